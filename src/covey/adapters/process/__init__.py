"""Programs as processes of this machine, each under a guardian that ends what it starts."""
