"""Programs as processes of this machine, each under a guardian that ends all of its processes."""
