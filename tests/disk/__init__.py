"""Tests of the disk primitives that adapters share."""
