// Takes commands for a simulated device: numbers of 64 bits on the standard input, and answers on the standard output.

static void get(void *place, size_t bytes) {
    if (fread(place, 1, bytes, stdin) != bytes) exit(0);
}
static uint64_t get() {
    uint64_t value;
    get(&value, sizeof value);
    return value;
}
static void put(const void *place, size_t bytes) {
    fwrite(place, 1, bytes, stdout);
    fflush(stdout);
}

// C <- alpha op(A) op(B) + beta C by columns, as cuBLAS defines it; strided and batched below.
template <typename T> static void gemm(bool ta, bool tb, long m, long n, long k, T alpha, const T *a, long lda, const T *b, long ldb,
                                       T beta, T *c, long ldc) {
    for (long j = 0; j < n; ++j)
        for (long i = 0; i < m; ++i) {
            T total = 0;
            for (long l = 0; l < k; ++l) total += (ta ? a[i * lda + l] : a[l * lda + i]) * (tb ? b[l * ldb + j] : b[j * ldb + l]);
            c[j * ldc + i] = alpha * total + (beta == 0 ? 0 : beta * c[j * ldc + i]);
        }
}

template <typename T> static void gemm() {
    uint64_t w[17];
    for (uint64_t &word : w) word = get();
    T alpha, beta;
    memcpy(&alpha, &w[5], sizeof(T));
    memcpy(&beta, &w[10], sizeof(T));
    for (uint64_t i = 0; i < w[13]; ++i)
        gemm<T>(w[0], w[1], (long)w[2], (long)w[3], (long)w[4], alpha, (const T *)w[6] + i * w[14], (long)w[7], (const T *)w[8] + i * w[15],
                (long)w[9], beta, (T *)w[11] + i * w[16], (long)w[12]);
}

// D <- e(A B + beta C) by columns, as cuBLASLt defines its epilogues.
enum Ending { BIAS, RELU_AUX_BIAS, GELU_AUX_BIAS, DRELU_BGRAD, DGELU_BGRAD, BGRADA, BGRADB };

static float gelu(float x) { return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }
static float gelu_slope(float x) {
    const float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * x * x);
}

static void epilogue() {
    uint64_t w[19];
    for (uint64_t &word : w) word = get();
    const bool ta = w[0], tb = w[1];
    const long m = (long)w[2], n = (long)w[3], k = (long)w[4], lda = (long)w[7], ldb = (long)w[9], ldc = (long)w[12], ldd = (long)w[14];
    float beta;
    memcpy(&beta, &w[10], sizeof beta);
    const float *a = (const float *)w[6], *b = (const float *)w[8], *c = (const float *)w[11];
    float *d = (float *)w[13], *vector = (float *)w[16], *aux = (float *)w[17];
    const int ending = (int)w[15];
    const long ld_aux = (long)w[18];
    const bool bits = ending == RELU_AUX_BIAS || ending == DRELU_BGRAD;
    const bool has_aux = bits || ending == GELU_AUX_BIAS || ending == DGELU_BGRAD;
    if (has_aux && (ld_aux < m || ld_aux % (bits ? 128 : 8) != 0 || w[17] % 16 != 0)) fail("an auxiliary matrix that cuBLASLt refuses");
    const auto first = [&](long i, long l) { return ta ? a[i * lda + l] : a[l * lda + i]; };
    const auto second = [&](long l, long j) { return tb ? b[l * ldb + j] : b[j * ldb + l]; };
    for (long j = 0; j < n; ++j)
        for (long i = 0; i < m; ++i) {
            float s = 0;
            for (long l = 0; l < k; ++l) s += first(i, l) * second(l, j);
            if (beta != 0) s += beta * c[j * ldc + i];
            const long bit = j * ld_aux + i;
            unsigned char *byte = (unsigned char *)aux + bit / 8;
            const unsigned char mark = (unsigned char)(1 << bit % 8);
            switch (ending) {
            case BIAS: s += vector[i]; break;
            case RELU_AUX_BIAS:
                s += vector[i];
                *byte = s > 0 ? *byte | mark : *byte & ~mark;
                s = s > 0 ? s : 0;
                break;
            case GELU_AUX_BIAS:
                s += vector[i];
                aux[bit] = s;
                s = gelu(s);
                break;
            case DRELU_BGRAD: s = *byte & mark ? s : 0; break;
            case DGELU_BGRAD: s *= gelu_slope(aux[bit]); break;
            }
            d[j * ldd + i] = s;
        }
    const bool sums = ending == DRELU_BGRAD || ending == DGELU_BGRAD;
    for (long i = 0; (sums || ending == BGRADA) && i < m; ++i) {
        vector[i] = 0;
        for (long j = 0; sums && j < n; ++j) vector[i] += d[j * ldd + i];
        for (long l = 0; !sums && l < k; ++l) vector[i] += first(i, l);
    }
    for (long j = 0; ending == BGRADB && j < n; ++j) {
        vector[j] = 0;
        for (long l = 0; l < k; ++l) vector[j] += second(l, j);
    }
}

// Cross-correlation and its gradients, as cuDNN defines them.
struct Planes {
    float *start;
    long lengths[4], strides[4];
    float &at(long a, long b, long c, long d) const { return start[a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]]; }
    template <typename F> void each(F f) const {
        for (long a = 0; a < lengths[0]; ++a)
            for (long b = 0; b < lengths[1]; ++b)
                for (long c = 0; c < lengths[2]; ++c)
                    for (long d = 0; d < lengths[3]; ++d) f(a, b, c, d);
    }
};

static Planes planes() {
    Planes p;
    p.start = (float *)get();
    for (long &length : p.lengths) length = (long)get();
    for (long &stride : p.strides) stride = (long)get();
    return p;
}

static void convolution() {
    enum { FORWARD, BACKWARD_DATA, BACKWARD_FILTER };
    const uint64_t pass = get();
    const Planes x = planes(), kernel = planes(), y = planes();
    long padding[2], stride[2], dilation[2];
    for (long *two : {padding, stride, dilation}) two[0] = (long)get(), two[1] = (long)get();
    const long groups = (long)get();
    const uint64_t bits = get();
    float beta;
    memcpy(&beta, &bits, sizeof beta);
    const Planes &written = pass == FORWARD ? y : pass == BACKWARD_DATA ? x : kernel;
    written.each([&](long a, long b, long c, long d) {
        float &to = written.at(a, b, c, d);
        to = beta == 0 ? 0 : beta * to;
    });
    y.each([&](long n, long k, long p, long q) {
        for (long c = 0; c < kernel.lengths[1]; ++c)
            for (long r = 0; r < kernel.lengths[2]; ++r)
                for (long s = 0; s < kernel.lengths[3]; ++s) {
                    const long i = p * stride[0] + r * dilation[0] - padding[0], j = q * stride[1] + s * dilation[1] - padding[1];
                    if (i < 0 || j < 0 || i >= x.lengths[2] || j >= x.lengths[3]) continue;
                    const long group = k / (kernel.lengths[0] / groups);
                    float &of_x = x.at(n, group * kernel.lengths[1] + c, i, j), &of_kernel = kernel.at(k, c, r, s), &of_y = y.at(n, k, p, q);
                    if (pass == FORWARD) of_y += of_x * of_kernel;
                    if (pass == BACKWARD_DATA) of_x += of_y * of_kernel;
                    if (pass == BACKWARD_FILTER) of_kernel += of_x * of_y;
                }
    });
}

int main() {
    for (;;) {
        switch (get()) {
        case 'a': {
            const size_t bytes = get();
            void *place = aligned_alloc(256, (bytes + 255) / 256 * 256);
#if defined(__SANITIZE_ADDRESS__)
            // The end is where the sanitiser looks.
            free(place);
            if (posix_memalign(&place, 256, bytes)) abort();
#endif
            // What is larger the system gives when somebody looks at it.
            if (bytes < (size_t)1 << 30) memset(place, 0xff, bytes);
            const uint64_t address = (uint64_t)place;
            put(&address, sizeof address);
            break;
        }
        case 'f': free((void *)get()); break;
        case 'z': {
            void *place = (void *)get();
            memset(place, 0, get());
            break;
        }
        case 'u': {
            void *place = (void *)get();
            get(place, get());
            break;
        }
        case 'd': {
            void *place = (void *)get();
            put(place, get());
            break;
        }
        case 'c': {
            void *to = (void *)get();
            void *from = (void *)get();
            memcpy(to, from, get());
            break;
        }
        case 's':
            schedule = (int)get();
            chance = 2 * (uint64_t)schedule + 1;
            break;
        case 'l': {
            const uint64_t kernel = get();
            const unsigned gx = (unsigned)get(), gy = (unsigned)get(), bx = (unsigned)get(), by = (unsigned)get();
            std::vector<uint64_t> words(get());
            get(words.data(), words.size() * sizeof(uint64_t));
            if (words.size() != sizes[kernel]) fail("arguments of another number");
            run_grid(kernels[kernel], words.data(), {gx, gy, 1}, {bx, by, 1});
            break;
        }
        case 'g': {
            if (get()) gemm<double>(); else gemm<float>();
            break;
        }
        case 'e': epilogue(); break;
        case 'v': convolution(); break;
        default: abort();
        }
    }
}
