//! What every transport has to do, tried on it.
