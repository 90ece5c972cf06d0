"""The frameworks LabDL runs on, one folder each, found by listing this one.

A backend is a module that imports its framework and `labdl.spec`, nothing else, and offers:

- ``name`` and ``tensor_types()``, the types it computes with;
- ``operators``, a module with one function for each operator whose spelling differs, and ``namespaces``, the framework's
  own modules in which the rest are found by name;
- ``spec_of(t)``, ``tensor(array)``, ``to_numpy(t)``, ``seed(n)``;
- ``variable(array, trainable)`` and ``assign(variable, array)``: parameters are the framework's own (D7);
- ``optimizer(name, variables, settings)``: an object with ``learning_rate`` and whatever ``train_function`` needs;
- ``train_function(forward, variables, optimizer, compiled)``: a step ``(x, y) -> (loss, output)`` that updates in place;
- ``evaluate_function(forward, compiled)``: ``forward`` without gradients;
- ``gradients(function, values)``: ``(result, gradients)`` of a scalar function of native tensors;
- ``finite(variables)``: the index of the first variable with a value that is not finite, or None.
"""

from labdl.dispatch import available, default, get, load, use
from labdl.dispatch import installed_backends as installed

__all__ = ["available", "default", "get", "installed", "load", "use"]
