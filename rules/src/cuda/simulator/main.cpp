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
            memset(place, 0xff, bytes);
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
        default: abort();
        }
    }
}
