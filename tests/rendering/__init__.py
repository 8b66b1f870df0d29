"""Tests of foreign text at every place where a model or a person reads it."""
