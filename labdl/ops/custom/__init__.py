"""Custom operators: user-defined operators on every backend, in Python or in C and C++.

From Python, the body is NumPy and the gradient is optional::

    @custom.operator(rules.elementwise)
    def cube(x):
        "The third power of each element."
        return x**3

    @cube.register_backward_function
    def cube_gradient(gradient, x):
        return gradient * 3 * x**2

From C or C++, in three steps: register the primitive, give the kernel's source, register the kernel::

    swish = custom.register_primitive("swish", inputs=("x",), options={"beta": 1.0})
    swish.kernel('''
        void swish(const Float32 *x, Float32 *y, double beta) {
            for (int64_t i = 0; i < x->size; i++) y->data[i] = x->data[i] / (1 + exp(-beta * x->data[i]));
        }''')
    swish.register_kernel("swish", dtype="float32")

A kernel's parameters are the inputs, then the results it fills, then the options (double for a float, int64_t for an
integer or a boolean). A backward kernel reads the inputs, the results and the gradients of the results, fills the
gradients of the inputs, and takes the options. Each tensor is a pointer to ``{data, size, rank, shape}``: ``size`` counts
the elements, ``shape[axis]`` is a size, the data lie in row-major order, and outputs are initialized with zeros.
Float32, Float64, Int32, Int64, UInt8 and Bool are declared already, and <math.h> and <stdint.h> are included. The GIL is
released meanwhile.
"""

from labdl.ops.custom.definition import CustomOperator
from labdl.ops.custom.registration import operator, register_primitive, unregister

__all__ = ["CustomOperator", "operator", "register_primitive", "unregister"]
