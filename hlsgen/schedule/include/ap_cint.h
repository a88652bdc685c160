// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The C types of exact width: int7, uint12 and their like, as ap_ numbers.
#ifndef HLSGEN_SCHEDULE_AP_CINT_H
#define HLSGEN_SCHEDULE_AP_CINT_H

#include "ap_int.h"

typedef ap_int<1> int1;  typedef ap_uint<1> uint1;
typedef ap_int<2> int2;  typedef ap_uint<2> uint2;
typedef ap_int<3> int3;  typedef ap_uint<3> uint3;
typedef ap_int<4> int4;  typedef ap_uint<4> uint4;
typedef ap_int<5> int5;  typedef ap_uint<5> uint5;
typedef ap_int<6> int6;  typedef ap_uint<6> uint6;
typedef ap_int<7> int7;  typedef ap_uint<7> uint7;
typedef ap_int<9> int9;  typedef ap_uint<9> uint9;
typedef ap_int<10> int10;  typedef ap_uint<10> uint10;
typedef ap_int<11> int11;  typedef ap_uint<11> uint11;
typedef ap_int<12> int12;  typedef ap_uint<12> uint12;
typedef ap_int<13> int13;  typedef ap_uint<13> uint13;
typedef ap_int<14> int14;  typedef ap_uint<14> uint14;
typedef ap_int<15> int15;  typedef ap_uint<15> uint15;
typedef ap_int<17> int17;  typedef ap_uint<17> uint17;
typedef ap_int<18> int18;  typedef ap_uint<18> uint18;
typedef ap_int<19> int19;  typedef ap_uint<19> uint19;
typedef ap_int<20> int20;  typedef ap_uint<20> uint20;
typedef ap_int<21> int21;  typedef ap_uint<21> uint21;
typedef ap_int<22> int22;  typedef ap_uint<22> uint22;
typedef ap_int<23> int23;  typedef ap_uint<23> uint23;
typedef ap_int<24> int24;  typedef ap_uint<24> uint24;
typedef ap_int<25> int25;  typedef ap_uint<25> uint25;
typedef ap_int<26> int26;  typedef ap_uint<26> uint26;
typedef ap_int<27> int27;  typedef ap_uint<27> uint27;
typedef ap_int<28> int28;  typedef ap_uint<28> uint28;
typedef ap_int<29> int29;  typedef ap_uint<29> uint29;
typedef ap_int<30> int30;  typedef ap_uint<30> uint30;
typedef ap_int<31> int31;  typedef ap_uint<31> uint31;
typedef ap_int<33> int33;  typedef ap_uint<33> uint33;
typedef ap_int<34> int34;  typedef ap_uint<34> uint34;
typedef ap_int<35> int35;  typedef ap_uint<35> uint35;
typedef ap_int<36> int36;  typedef ap_uint<36> uint36;
typedef ap_int<37> int37;  typedef ap_uint<37> uint37;
typedef ap_int<38> int38;  typedef ap_uint<38> uint38;
typedef ap_int<39> int39;  typedef ap_uint<39> uint39;
typedef ap_int<40> int40;  typedef ap_uint<40> uint40;
typedef ap_int<41> int41;  typedef ap_uint<41> uint41;
typedef ap_int<42> int42;  typedef ap_uint<42> uint42;
typedef ap_int<43> int43;  typedef ap_uint<43> uint43;
typedef ap_int<44> int44;  typedef ap_uint<44> uint44;
typedef ap_int<45> int45;  typedef ap_uint<45> uint45;
typedef ap_int<46> int46;  typedef ap_uint<46> uint46;
typedef ap_int<47> int47;  typedef ap_uint<47> uint47;
typedef ap_int<48> int48;  typedef ap_uint<48> uint48;
typedef ap_int<49> int49;  typedef ap_uint<49> uint49;
typedef ap_int<50> int50;  typedef ap_uint<50> uint50;
typedef ap_int<51> int51;  typedef ap_uint<51> uint51;
typedef ap_int<52> int52;  typedef ap_uint<52> uint52;
typedef ap_int<53> int53;  typedef ap_uint<53> uint53;
typedef ap_int<54> int54;  typedef ap_uint<54> uint54;
typedef ap_int<55> int55;  typedef ap_uint<55> uint55;
typedef ap_int<56> int56;  typedef ap_uint<56> uint56;
typedef ap_int<57> int57;  typedef ap_uint<57> uint57;
typedef ap_int<58> int58;  typedef ap_uint<58> uint58;
typedef ap_int<59> int59;  typedef ap_uint<59> uint59;
typedef ap_int<60> int60;  typedef ap_uint<60> uint60;
typedef ap_int<61> int61;  typedef ap_uint<61> uint61;
typedef ap_int<62> int62;  typedef ap_uint<62> uint62;
typedef ap_int<63> int63;  typedef ap_uint<63> uint63;
typedef ap_int<65> int65;  typedef ap_uint<65> uint65;
typedef ap_int<66> int66;  typedef ap_uint<66> uint66;
typedef ap_int<67> int67;  typedef ap_uint<67> uint67;
typedef ap_int<68> int68;  typedef ap_uint<68> uint68;
typedef ap_int<69> int69;  typedef ap_uint<69> uint69;
typedef ap_int<70> int70;  typedef ap_uint<70> uint70;
typedef ap_int<71> int71;  typedef ap_uint<71> uint71;
typedef ap_int<72> int72;  typedef ap_uint<72> uint72;
typedef ap_int<73> int73;  typedef ap_uint<73> uint73;
typedef ap_int<74> int74;  typedef ap_uint<74> uint74;
typedef ap_int<75> int75;  typedef ap_uint<75> uint75;
typedef ap_int<76> int76;  typedef ap_uint<76> uint76;
typedef ap_int<77> int77;  typedef ap_uint<77> uint77;
typedef ap_int<78> int78;  typedef ap_uint<78> uint78;
typedef ap_int<79> int79;  typedef ap_uint<79> uint79;
typedef ap_int<80> int80;  typedef ap_uint<80> uint80;
typedef ap_int<81> int81;  typedef ap_uint<81> uint81;
typedef ap_int<82> int82;  typedef ap_uint<82> uint82;
typedef ap_int<83> int83;  typedef ap_uint<83> uint83;
typedef ap_int<84> int84;  typedef ap_uint<84> uint84;
typedef ap_int<85> int85;  typedef ap_uint<85> uint85;
typedef ap_int<86> int86;  typedef ap_uint<86> uint86;
typedef ap_int<87> int87;  typedef ap_uint<87> uint87;
typedef ap_int<88> int88;  typedef ap_uint<88> uint88;
typedef ap_int<89> int89;  typedef ap_uint<89> uint89;
typedef ap_int<90> int90;  typedef ap_uint<90> uint90;
typedef ap_int<91> int91;  typedef ap_uint<91> uint91;
typedef ap_int<92> int92;  typedef ap_uint<92> uint92;
typedef ap_int<93> int93;  typedef ap_uint<93> uint93;
typedef ap_int<94> int94;  typedef ap_uint<94> uint94;
typedef ap_int<95> int95;  typedef ap_uint<95> uint95;
typedef ap_int<96> int96;  typedef ap_uint<96> uint96;
typedef ap_int<97> int97;  typedef ap_uint<97> uint97;
typedef ap_int<98> int98;  typedef ap_uint<98> uint98;
typedef ap_int<99> int99;  typedef ap_uint<99> uint99;
typedef ap_int<100> int100;  typedef ap_uint<100> uint100;
typedef ap_int<101> int101;  typedef ap_uint<101> uint101;
typedef ap_int<102> int102;  typedef ap_uint<102> uint102;
typedef ap_int<103> int103;  typedef ap_uint<103> uint103;
typedef ap_int<104> int104;  typedef ap_uint<104> uint104;
typedef ap_int<105> int105;  typedef ap_uint<105> uint105;
typedef ap_int<106> int106;  typedef ap_uint<106> uint106;
typedef ap_int<107> int107;  typedef ap_uint<107> uint107;
typedef ap_int<108> int108;  typedef ap_uint<108> uint108;
typedef ap_int<109> int109;  typedef ap_uint<109> uint109;
typedef ap_int<110> int110;  typedef ap_uint<110> uint110;
typedef ap_int<111> int111;  typedef ap_uint<111> uint111;
typedef ap_int<112> int112;  typedef ap_uint<112> uint112;
typedef ap_int<113> int113;  typedef ap_uint<113> uint113;
typedef ap_int<114> int114;  typedef ap_uint<114> uint114;
typedef ap_int<115> int115;  typedef ap_uint<115> uint115;
typedef ap_int<116> int116;  typedef ap_uint<116> uint116;
typedef ap_int<117> int117;  typedef ap_uint<117> uint117;
typedef ap_int<118> int118;  typedef ap_uint<118> uint118;
typedef ap_int<119> int119;  typedef ap_uint<119> uint119;
typedef ap_int<120> int120;  typedef ap_uint<120> uint120;
typedef ap_int<121> int121;  typedef ap_uint<121> uint121;
typedef ap_int<122> int122;  typedef ap_uint<122> uint122;
typedef ap_int<123> int123;  typedef ap_uint<123> uint123;
typedef ap_int<124> int124;  typedef ap_uint<124> uint124;
typedef ap_int<125> int125;  typedef ap_uint<125> uint125;
typedef ap_int<126> int126;  typedef ap_uint<126> uint126;
typedef ap_int<127> int127;  typedef ap_uint<127> uint127;
typedef ap_int<128> int128;  typedef ap_uint<128> uint128;
typedef signed char int8;   typedef unsigned char uint8;
typedef short int16;        typedef unsigned short uint16;
typedef int int32;          typedef unsigned uint32;
typedef long long int64;    typedef unsigned long long uint64;
typedef ap_int<256> int256;   typedef ap_uint<256> uint256;
typedef ap_int<512> int512;   typedef ap_uint<512> uint512;
typedef ap_int<1024> int1024; typedef ap_uint<1024> uint1024;

#define apint_get_bit(x, i) ((x)[i])
#define apint_set_bit(x, i, b) ((x)[i] = (b))
#define apint_get_range(x, hi, lo) ((x).range(hi, lo))
#define apint_set_range(x, hi, lo, y) ((x).range(hi, lo) = (y))

#endif
