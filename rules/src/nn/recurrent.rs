//! What recurrent cells do to each element once the products for their gates are there.
//!
//! The products of a cell are best made together: *[x h]·W + b* with the gates side by side, of which the functions take views.

use super::generic::fused_and_generic;

fused_and_generic! {
    /// The state of an LSTM cell: *yᵢ = σ(fᵢ)·cᵢ + σ(iᵢ)·tanh gᵢ* for the state *c* before, and what comes to the gates for input *i*, forgetting *f* and
    /// candidate *g*; *σ* is the logistic function. What the cell puts out is [`lstm_output`](fn@lstm_output).
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::lstm_state;
    ///
    /// let (c, never, always) = (array![0.5, 0.5], array![-1000.0, 1000.0], array![1000.0, -1000.0]);
    /// let mut y = array![0.0, 0.0];
    /// lstm_state(&mut y, &c, &never, &always, &array![0.0, 1000.0]);
    /// assert_eq!(y, array![0.5, 1.0]);
    /// ```
    ///
    /// # Gradient
    /// *ċᵢ += σ(fᵢ)·ẏᵢ*, and with *σ′ = σ·(1 − σ)*: *ḟᵢ += cᵢ·σ′(fᵢ)·ẏᵢ*, *i̇ᵢ += tanh gᵢ·σ′(iᵢ)·ẏᵢ*, *ġᵢ += σ(iᵢ)·(1 − tanh² gᵢ)·ẏᵢ* (Hochreiter and
    /// Schmidhuber, *Long short-term memory*, 1997; Gers, Schmidhuber and Cummins, *Learning to forget*, 2000).
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn lstm_state(c, i, f, g) {
        f.sigmoid() * c + i.sigmoid() * g.tanh()
    }

    /// What an LSTM cell puts out: *yᵢ = σ(oᵢ)·tanh cᵢ* for its new state *c*, as of [`lstm_state`](fn@lstm_state), and what comes to the output gate *o*.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::lstm_output;
    ///
    /// let mut y = array![0.0];
    /// lstm_output(&mut y, &array![1000.0], &array![0.0]);
    /// assert_eq!(y, array![0.5]);
    /// ```
    ///
    /// # Gradient
    /// *ċᵢ += σ(oᵢ)·(1 − tanh² cᵢ)·ẏᵢ*, *ȯᵢ += tanh cᵢ·σ(oᵢ)·(1 − σ(oᵢ))·ẏᵢ*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn lstm_output(c, o) {
        o.sigmoid() * c.tanh()
    }

    /// A gated recurrent unit: *yᵢ = (1 − σ(zᵢ))·nᵢ + σ(zᵢ)·hᵢ* with the candidate *nᵢ = tanh(aᵢ + σ(rᵢ)·bᵢ)*, for the state *h* before, what comes to the gates
    /// for updating *z* and resetting *r*, and to the candidate from the input, *a*, and from the state, *b*.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::gru;
    ///
    /// let (h, keeps, resets) = (array![0.5, 0.5], array![1000.0, -1000.0], array![0.0, -1000.0]);
    /// let mut y = array![0.0, 0.0];
    /// gru(&mut y, &h, &keeps, &resets, &array![0.0, 1000.0], &array![3.0, -5000.0]);
    /// assert_eq!(y, array![0.5, 1.0]);
    /// ```
    ///
    /// # Gradient
    /// With *σ′ = σ·(1 − σ)* and *cᵢ = (1 − σ(zᵢ))·(1 − nᵢ²)·ẏᵢ*: *ḣᵢ += σ(zᵢ)·ẏᵢ*, *żᵢ += (hᵢ − nᵢ)·σ′(zᵢ)·ẏᵢ*, *ȧᵢ += cᵢ*, *ḃᵢ += σ(rᵢ)·cᵢ*,
    /// *ṙᵢ += bᵢ·σ′(rᵢ)·cᵢ* (Cho et al., *Learning phrase representations using RNN encoder-decoder for statistical machine translation*, 2014, with the
    /// gate behind the product).
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gru(h, z, r, a, b) {
        let candidate = (a + r.sigmoid() * b).tanh();
        candidate + z.sigmoid() * (h - candidate)
    }
}
