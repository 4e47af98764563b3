//! InfiniBand: what `ibnetdiscover`, `opensm` and `ibdiagnet` write.
