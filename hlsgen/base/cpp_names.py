"""Identifiers that a kernel or a layer must not have: the emitted C++ would mean something else by them."""

# C++11 to C++20: keywords, alternative tokens, and identifiers with special meaning.
# fmt: off
CPP_KEYWORDS = frozenset({
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export",
    "extern", "false", "final", "float", "for", "friend", "goto", "if", "import", "inline", "int", "long",
    "module", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "override", "private", "protected", "public", "register", "reinterpret_cast", "requires",
    "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
})
# fmt: on
EMITTED_NAMES = frozenset(
    {"main", "std", "hls", "hlsgen", "tb", "biases", "compute", "dot", "drain", "filling", "folder"}
    | {"frame_pixels", "frames", "input", "iteration", "lanes", "load", "memory", "most_frames", "output"}
    | {"pixels", "position", "rows_filled", "rows_needed", "run", "store", "watch", "weight_codes", "weights"}
)
"""Names that emitted C++ needs for itself: with one of them it does not compile."""
EMITTED_PREFIXES = ("load_", "store_", "read_", "write_", "convert_", "fork_", "relay_")
"""How the names of the functions between a network's layers begin; a port's or layer's name follows."""
C_HEADERS = frozenset(
    {"alloca", "assert", "complex", "ctype", "endian", "errno", "features", "fenv", "float", "inttypes"}
    | {"iso646", "limits", "locale", "malloc", "math", "memory", "pthread", "sched", "setjmp", "signal"}
    | {"stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "strings", "tgmath", "time"}
    | {"unistd", "wchar", "wctype"}
)
"""A kernel or a layer has a header of its name, which would be included instead of C's."""
VENDOR_PREFIXES = ("ap_", "hls_")
"""How the names of the headers of Vitis HLS begin, and those that they declare."""

_C_LIBRARY = """
    a64l abort abs accept access acos acosf acosh acoshf acoshl acosl alarm aligned_alloc alloca
    alphasort asctime asctime_r asin asinf asinh asinhf asinhl asinl asprintf at_quick_exit atan atan2
    atan2f atan2l atanf atanh atanhf atanhl atanl atexit atof atoi atol atoll basename bind bsearch
    btowc cabs cabsf cabsl cacos cacosf cacosh cacoshf cacoshl cacosl calloc carg cargf cargl casin
    casinf casinh casinhf casinhl casinl catan catanf catanh catanhf catanhl catanl cbrt cbrtf cbrtl
    ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf ceill cexp cexpf cexpl chdir chmod chown cimag
    cimagf cimagl clearerr clock clock_getcpuclockid clock_getres clock_gettime clock_nanosleep
    clock_settime clog clogf clogl close closedir confstr conj conjf conjl connect copysign copysignf
    copysignl cos cosf cosh coshf coshl cosl cpow cpowf cpowl cproj cprojf cprojl creal crealf creall
    creat csin csinf csinh csinhf csinhl csinl csqrt csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl
    ctermid ctime ctime_r daylight difftime dirfd div dlclose dlerror dlopen dlsym dprintf drand48 dup
    dup2 duplocale environ erand48 erf erfc erfcf erfcl erff erfl err errno error errx execl execle
    execlp execv execve execvp exit exp exp2 exp2f exp2l expf expl expm1 expm1f expm1l fabs fabsf fabsl
    faccessat fchdir fchmod fchmodat fchown fchownat fclose fcntl fdatasync fdim fdimf fdiml fdopen
    fdopendir feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feof feraiseexcept ferror
    fesetenv fesetexceptflag fesetround fetestexcept feupdateenv fexecve fflush ffs fgetc fgetpos fgets
    fgetwc fgetws fileno flockfile floor floorf floorl fma fmaf fmal fmax fmaxf fmaxl fmemopen fmin
    fminf fminl fmod fmodf fmodl fopen fork fpathconf fprintf fputc fputs fputwc fputws fread free
    freelocale freopen frexp frexpf frexpl fscanf fseek fseeko fsetpos fstat fstatat fsync ftell ftello
    ftruncate ftrylockfile funlockfile futimens fwide fwprintf fwrite fwscanf getc getc_unlocked getchar
    getchar_unlocked getcwd getdate getdelim getegid getenv geteuid getgid getgroups gethostid
    gethostname getitimer getline getlogin getlogin_r getopt getopt_long getpeername getpgid getpgrp
    getpid getppid getpriority getrlimit getrusage getsid getsockname getsockopt getsubopt gettid
    gettimeofday getuid getwc getwchar gmtime gmtime_r grantpt hypot hypotf hypotl ilogb ilogbf ilogbl
    imaxabs imaxdiv initstate isalnum isalnum_l isalpha isalpha_l isascii isatty isblank isblank_l
    iscntrl iscntrl_l isdigit isdigit_l isgraph isgraph_l islower islower_l isprint isprint_l ispunct
    ispunct_l isspace isspace_l isupper isupper_l iswalnum iswalnum_l iswalpha iswalpha_l iswblank
    iswblank_l iswcntrl iswcntrl_l iswctype iswctype_l iswdigit iswdigit_l iswgraph iswgraph_l iswlower
    iswlower_l iswprint iswprint_l iswpunct iswpunct_l iswspace iswspace_l iswupper iswupper_l iswxdigit
    iswxdigit_l isxdigit isxdigit_l j0 j1 jn jrand48 kill killpg l64a labs lchown lcong48 ldexp ldexpf
    ldexpl ldiv lgamma lgammaf lgammal link linkat linux listen llabs lldiv llrint llrintf llrintl
    llround llroundf llroundl localeconv localtime localtime_r lockf log log10 log10f log10l log1p
    log1pf log1pl log2 log2f log2l logb logbf logbl logf logl longjmp lrand48 lrint lrintf lrintl lround
    lroundf lroundl lseek lstat malloc mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs mbtowc
    memccpy memchr memcmp memcpy memmove memset mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat
    mkstemp mktime mlock mlockall mmap modf modff modfl mprotect mrand48 msync munlock munlockall munmap
    nan nanf nanl nanosleep nearbyint nearbyintf nearbyintl newlocale nextafter nextafterf nextafterl
    nexttoward nexttowardf nexttowardl nice nrand48 open open_memstream open_wmemstream openat opendir
    optarg opterr optind optopt pathconf pause pclose perror pipe pipe2 poll popen posix_fadvise
    posix_fallocate posix_madvise posix_memalign posix_openpt pow powf powl pread printf pselect
    psiginfo psignal pthread_atfork pthread_attr_destroy pthread_attr_getdetachstate
    pthread_attr_getguardsize pthread_attr_getinheritsched pthread_attr_getschedparam
    pthread_attr_getschedpolicy pthread_attr_getscope pthread_attr_getstack pthread_attr_getstackaddr
    pthread_attr_getstacksize pthread_attr_init pthread_attr_setdetachstate pthread_attr_setguardsize
    pthread_attr_setinheritsched pthread_attr_setschedparam pthread_attr_setschedpolicy
    pthread_attr_setscope pthread_attr_setstack pthread_attr_setstackaddr pthread_attr_setstacksize
    pthread_barrier_destroy pthread_barrier_init pthread_barrier_wait pthread_barrierattr_destroy
    pthread_barrierattr_getpshared pthread_barrierattr_init pthread_barrierattr_setpshared
    pthread_cancel pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_signal
    pthread_cond_timedwait pthread_cond_wait pthread_condattr_destroy pthread_condattr_getclock
    pthread_condattr_getpshared pthread_condattr_init pthread_condattr_setclock
    pthread_condattr_setpshared pthread_create pthread_detach pthread_equal pthread_exit
    pthread_getconcurrency pthread_getcpuclockid pthread_getschedparam pthread_getspecific pthread_join
    pthread_key_create pthread_key_delete pthread_kill pthread_mutex_consistent pthread_mutex_destroy
    pthread_mutex_getprioceiling pthread_mutex_init pthread_mutex_lock pthread_mutex_setprioceiling
    pthread_mutex_timedlock pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_destroy
    pthread_mutexattr_getprioceiling pthread_mutexattr_getprotocol pthread_mutexattr_getpshared
    pthread_mutexattr_getrobust pthread_mutexattr_gettype pthread_mutexattr_init
    pthread_mutexattr_setprioceiling pthread_mutexattr_setprotocol pthread_mutexattr_setpshared
    pthread_mutexattr_setrobust pthread_mutexattr_settype pthread_once pthread_rwlock_destroy
    pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock
    pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_wrlock
    pthread_rwlockattr_destroy pthread_rwlockattr_getpshared pthread_rwlockattr_init
    pthread_rwlockattr_setpshared pthread_self pthread_setcancelstate pthread_setcanceltype
    pthread_setconcurrency pthread_setschedparam pthread_setschedprio pthread_setspecific
    pthread_sigmask pthread_spin_destroy pthread_spin_init pthread_spin_lock pthread_spin_trylock
    pthread_spin_unlock pthread_testcancel ptsname putc putc_unlocked putchar putchar_unlocked putenv
    puts putwc putwchar pwrite qsort qsort_r quick_exit raise rand rand_r random rawmemchr read readdir
    readdir_r readlink readlinkat realloc realpath recv recvfrom recvmsg remainder remainderf remainderl
    remove remquo remquof remquol rename renameat rewind rewinddir rint rintf rintl rmdir round roundf
    roundl scalbln scalblnf scalblnl scalbn scalbnf scalbnl scandir scanf sched_get_priority_max
    sched_get_priority_min sched_getparam sched_getscheduler sched_rr_get_interval sched_setparam
    sched_setscheduler sched_yield seed48 seekdir select sem_close sem_destroy sem_getvalue sem_init
    sem_open sem_post sem_timedwait sem_trywait sem_unlink sem_wait send sendmsg sendto setbuf setegid
    setenv seteuid setgid setitimer setjmp setlocale setpgid setpgrp setpriority setregid setreuid
    setrlimit setsid setsockopt setstate setuid setvbuf shm_open shm_unlink shutdown sigaction sigaddset
    sigaltstack sigdelset sigemptyset sigfillset sighold sigignore siginterrupt sigismember siglongjmp
    signal signgam sigpause sigpending sigprocmask sigqueue sigrelse sigset sigsuspend sigtimedwait
    sigwait sigwaitinfo sin sincos sinf sinh sinhf sinhl sinl sleep snprintf sockatmark socket
    socketpair sprintf sqrt sqrtf sqrtl srand srand48 srandom sscanf stat stderr stdin stdout stpcpy
    stpncpy strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy
    strcspn strdup strerror strerror_l strerror_r strftime strftime_l strlen strncasecmp strncasecmp_l
    strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsignal strspn strstr strtod
    strtof strtoimax strtok strtok_r strtol strtold strtoll strtoul strtoull strtoumax strxfrm strxfrm_l
    swab swprintf swscanf symlink symlinkat sync sysconf system tan tanf tanh tanhf tanhl tanl tcgetpgrp
    tcsetpgrp telldir tempnam tgamma tgammaf tgammal time timer_create timer_delete timer_getoverrun
    timer_gettime timer_settime timespec_get timezone tmpfile tmpnam toascii tolower tolower_l toupper
    toupper_l towctrans towctrans_l towlower towlower_l towupper towupper_l trunc truncate truncf truncl
    ttyname ttyname_r tzname tzset umask ungetc ungetwc unix unlink unlinkat unlockpt unsetenv uselocale
    utimensat utimes vasprintf vdprintf verr verrx vfprintf vfscanf vfwprintf vfwscanf vprintf vscanf
    vsnprintf vsprintf vsscanf vswprintf vswscanf vwarn vwarnx vwprintf vwscanf wait waitid waitpid warn
    warnx wcpcpy wcpncpy wcrtomb wcscasecmp wcscasecmp_l wcscat wcschr wcscmp wcscoll wcscoll_l wcscpy
    wcscspn wcsdup wcsftime wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs
    wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold wcstoll
    wcstombs wcstoul wcstoull wcstoumax wcswcs wcswidth wcsxfrm wcsxfrm_l wctob wctomb wctrans wctrans_l
    wctype wctype_l wcwidth wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf write wscanf y0 y1 yn
"""
C_LIBRARY = frozenset(_C_LIBRARY.split())
"""The functions and variables of C17 and POSIX 2008, and those of glibc that are met often.

A kernel has C linkage: one called `read` would be what the C library calls to read a file.
"""
