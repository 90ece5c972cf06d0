"""PaddlePaddle as a backend; importing this package imports no framework."""
