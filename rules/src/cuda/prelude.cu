// What all kernels have in common. T is float or double.

#define PB_INFINITY __longlong_as_double(0x7ff0000000000000LL)

// Elements that are loaded and stored at once.
template <typename T, int N> struct alignas(sizeof(T) * N) pb_vector {
    T e[N];
};

// n / d for n below 2^31, with m and s from the host (Granlund and Montgomery, Division by invariant integers, 1994).
__device__ inline int pb_quotient(int n, unsigned m, unsigned s) {
    return (int)((__umulhi((unsigned)n, m) + (unsigned)n) >> s);
}

enum { PB_SUM, PB_MAX, PB_MIN };

template <int K, typename T> __device__ inline T pb_neutral() {
    return K == PB_SUM ? (T)0 : K == PB_MAX ? -(T)PB_INFINITY : (T)PB_INFINITY;
}

template <int K, typename T> __device__ inline T pb_combine(T a, T b) {
    return K == PB_SUM ? a + b : K == PB_MAX ? (a < b ? b : a) : (b < a ? b : a);
}

// Of the 32 lanes of a warp; all of them get the result of the first.
template <int K, typename T> __device__ inline T pb_warp(T value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value = pb_combine<K>(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return __shfl_sync(0xffffffffu, value, 0);
}

// Of a block of 256 x 1 threads, for all of them. The barrier at the end makes room for the next one.
template <int K, typename T> __device__ inline T pb_block(T value, T *shared) {
    value = pb_warp<K>(value);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    T total = shared[0];
    for (int i = 1; i < 8; ++i) total = pb_combine<K>(total, shared[i]);
    __syncthreads();
    return total;
}

// Of each of the 32 columns in a block of 32 x 8 threads.
template <int K, typename T> __device__ inline T pb_column(T value, T *shared) {
    shared[threadIdx.y * 32 + threadIdx.x] = value;
    __syncthreads();
    T total = shared[threadIdx.x];
    for (int i = 1; i < 8; ++i) total = pb_combine<K>(total, shared[i * 32 + threadIdx.x]);
    __syncthreads();
    return total;
}

#define PB_FUNCTION(name, single, twice) \
    __device__ inline float pb_##name(float x) { return single; } \
    __device__ inline double pb_##name(double x) { return twice; }

PB_FUNCTION(exp, expf(x), exp(x))
PB_FUNCTION(exp2, exp2f(x), exp2(x))
PB_FUNCTION(exp_m1, expm1f(x), expm1(x))
PB_FUNCTION(ln, logf(x), log(x))
PB_FUNCTION(ln_1p, log1pf(x), log1p(x))
PB_FUNCTION(log2, log2f(x), log2(x))
PB_FUNCTION(log10, log10f(x), log10(x))
PB_FUNCTION(sin, sinf(x), sin(x))
PB_FUNCTION(cos, cosf(x), cos(x))
PB_FUNCTION(tan, tanf(x), tan(x))
PB_FUNCTION(asin, asinf(x), asin(x))
PB_FUNCTION(acos, acosf(x), acos(x))
PB_FUNCTION(atan, atanf(x), atan(x))
PB_FUNCTION(sinh, sinhf(x), sinh(x))
PB_FUNCTION(cosh, coshf(x), cosh(x))
PB_FUNCTION(tanh, tanhf(x), tanh(x))
PB_FUNCTION(asinh, asinhf(x), asinh(x))
PB_FUNCTION(acosh, acoshf(x), acosh(x))
PB_FUNCTION(atanh, atanhf(x), atanh(x))
PB_FUNCTION(sqrt, sqrtf(x), sqrt(x))
PB_FUNCTION(cbrt, cbrtf(x), cbrt(x))
PB_FUNCTION(recip, 1.0f / x, 1.0 / x)
PB_FUNCTION(abs, fabsf(x), fabs(x))
PB_FUNCTION(signum, x != x ? x : copysignf(1.0f, x), x != x ? x : copysign(1.0, x))
PB_FUNCTION(floor, floorf(x), floor(x))
PB_FUNCTION(erf, erff(x), erf(x))
PB_FUNCTION(erfc, erfcf(x), erfc(x))

// Nothing overflows, and what is small is exact.
template <typename T> __device__ inline T pb_sigmoid(T x) {
    const T e = pb_exp(-pb_abs(x));
    return (x < (T)0 ? e : (T)1) / ((T)1 + e);
}
template <typename T> __device__ inline T pb_softplus(T x) {
    return (x < (T)0 ? (T)0 : x) + pb_ln_1p(pb_exp(-pb_abs(x)));
}
template <typename T> __device__ inline T pb_log_sigmoid(T x) { return -pb_softplus(-x); }

__device__ inline float pb_powf(float x, float y) { return powf(x, y); }
__device__ inline double pb_powf(double x, double y) { return pow(x, y); }
__device__ inline float pb_atan2(float y, float x) { return atan2f(y, x); }
__device__ inline double pb_atan2(double y, double x) { return atan2(y, x); }
