// Included before all else (-include): a warning that GCC has and Clang would refuse as a flag.
//
// Registers of stages have no initial value: what is read of them before they are set is selected away. The reference
// ap headers and the vendor's (HLSGEN_OTHER_HEADERS) do such things too.
#if defined(__GNUC__) && !defined(__clang__)
#ifdef HLSGEN_OTHER_HEADERS
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#else
#pragma GCC diagnostic warning "-Wmaybe-uninitialized"
#endif
#endif
