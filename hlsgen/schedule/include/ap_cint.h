// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The C types of exact width: int7, uint12 and their like. In C++ they are ap_ numbers, in C integers of the language.
#ifndef HLSGEN_SCHEDULE_AP_CINT_H
#define HLSGEN_SCHEDULE_AP_CINT_H

#ifdef __cplusplus
#include "ap_int.h"

#define AP_CINT(width) typedef ap_int<width> int##width; typedef ap_uint<width> uint##width;
AP_CINT(1)
#else
#define AP_CINT(width) typedef signed _BitInt(width) int##width; typedef unsigned _BitInt(width) uint##width;
typedef signed _BitInt(2) int1;  // C has none of one bit with a sign
typedef unsigned _BitInt(1) uint1;
#endif
AP_CINT(2) AP_CINT(3) AP_CINT(4) AP_CINT(5) AP_CINT(6) AP_CINT(7) AP_CINT(9) AP_CINT(10) AP_CINT(11) AP_CINT(12) AP_CINT(13) AP_CINT(14)
AP_CINT(15) AP_CINT(17) AP_CINT(18) AP_CINT(19) AP_CINT(20) AP_CINT(21) AP_CINT(22) AP_CINT(23) AP_CINT(24) AP_CINT(25) AP_CINT(26) AP_CINT(27)
AP_CINT(28) AP_CINT(29) AP_CINT(30) AP_CINT(31) AP_CINT(33) AP_CINT(34) AP_CINT(35) AP_CINT(36) AP_CINT(37) AP_CINT(38) AP_CINT(39) AP_CINT(40)
AP_CINT(41) AP_CINT(42) AP_CINT(43) AP_CINT(44) AP_CINT(45) AP_CINT(46) AP_CINT(47) AP_CINT(48) AP_CINT(49) AP_CINT(50) AP_CINT(51) AP_CINT(52)
AP_CINT(53) AP_CINT(54) AP_CINT(55) AP_CINT(56) AP_CINT(57) AP_CINT(58) AP_CINT(59) AP_CINT(60) AP_CINT(61) AP_CINT(62) AP_CINT(63) AP_CINT(65)
AP_CINT(66) AP_CINT(67) AP_CINT(68) AP_CINT(69) AP_CINT(70) AP_CINT(71) AP_CINT(72) AP_CINT(73) AP_CINT(74) AP_CINT(75) AP_CINT(76) AP_CINT(77)
AP_CINT(78) AP_CINT(79) AP_CINT(80) AP_CINT(81) AP_CINT(82) AP_CINT(83) AP_CINT(84) AP_CINT(85) AP_CINT(86) AP_CINT(87) AP_CINT(88) AP_CINT(89)
AP_CINT(90) AP_CINT(91) AP_CINT(92) AP_CINT(93) AP_CINT(94) AP_CINT(95) AP_CINT(96) AP_CINT(97) AP_CINT(98) AP_CINT(99) AP_CINT(100) AP_CINT(101)
AP_CINT(102) AP_CINT(103) AP_CINT(104) AP_CINT(105) AP_CINT(106) AP_CINT(107) AP_CINT(108) AP_CINT(109) AP_CINT(110) AP_CINT(111) AP_CINT(112) AP_CINT(113)
AP_CINT(114) AP_CINT(115) AP_CINT(116) AP_CINT(117) AP_CINT(118) AP_CINT(119) AP_CINT(120) AP_CINT(121) AP_CINT(122) AP_CINT(123) AP_CINT(124) AP_CINT(125)
AP_CINT(126) AP_CINT(127) AP_CINT(128) AP_CINT(256) AP_CINT(512) AP_CINT(1024)
#undef AP_CINT
typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned uint32;
typedef long long int64;
typedef unsigned long long uint64;

#ifdef __cplusplus
#define apint_get_bit(x, i) ((x)[i])
#define apint_set_bit(x, i, b) ((x)[i] = (b))
#define apint_get_range(x, hi, lo) ((x).range(hi, lo))
#define apint_set_range(x, hi, lo, y) ((x).range(hi, lo) = (y))
#else
#define AP_CINT_MASK(hi, lo) ((((unsigned long long)2 << ((hi) - (lo))) - 1))
#define apint_get_bit(x, i) (((x) >> (i)) & 1)
#define apint_set_bit(x, i, b) apint_set_range(x, i, i, b)
#define apint_get_range(x, hi, lo) (((x) >> (lo)) & AP_CINT_MASK(hi, lo))
#define apint_set_range(x, hi, lo, y)                                                                          \
    ((x) = ((x) & ~((__typeof__(x))AP_CINT_MASK(hi, lo) << (lo))) |                                             \
           ((__typeof__(x))((y) & AP_CINT_MASK(hi, lo)) << (lo)))
#endif

#endif
