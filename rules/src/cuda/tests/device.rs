//! Arrays on the simulated device.
