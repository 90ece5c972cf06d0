"""The frameworks LabDL runs on, one folder each, found by listing this one.

A backend is a module that imports its framework, `labdl.spec`, `labdl.twins` and `labdl.noting`, nothing else, and offers:

- ``name`` and ``tensor_types()``, the types it computes with; ``concurrent``, true where several threads may compute at once;
- ``operators``, a module with one function for each operator whose spelling differs, and ``namespaces``, the framework's
  own modules in which the rest are found by name; a function for a composite may give NotImplemented for arguments that
  only the composite can do; ``lenient`` names operators whose kernels take, in silence, dtypes that make no sense;
- ``layout``, only where kernels want another order of axes: ``follows(kind)``, ``lies_last(t)``, ``channels_last(t, rank)``,
  ``channels_first(t)`` (see `labdl.ops.layout`);
- ``spec_of(t)``, ``dtype(name)``, ``tensor(array)``, ``to_numpy(t)``, ``copy(t)``, ``from_dlpack(t)``, ``seed(n)``;
- ``random_uniform(shape, low, high, dtype)``, ``random_normal(shape, mean, std, dtype)``,
  ``random_integers(shape, low, high, dtype)``, ``random_permutation(n)``: its own random numbers;
- ``random_state()``: what its random operators and dropout draw the next number from, as a dictionary of JSON's types and
  NumPy arrays, and ``set_random_state(state)``, after which they draw the same again, in compiled steps too (ValueError,
  KeyError or TypeError for what is no such state); reading may not change what is drawn once a seed has been given;
- ``variable(array, trainable)`` and ``assign(variable, array)``: parameters are the framework's own (D7);
  ``set_trainable(variable, flag)`` freezes and frees one, ``move_variable(variable, device)`` makes its like elsewhere;
- ``optimizer(rule, variables)``: what updates variables in place as a rule (`labdl.train.optimizers.base.Optimizer`) says, with
  a kernel of the framework that means the same or the rule's own ``update``. It has ``variables``, ``learning_rate`` to read
  and set, ``advance()``, which counts a step before it is made, ``update(gradients)``, a native tensor or None for each
  variable, ``step``, ``state``, a dictionary of slots for each variable, and ``load(step, state)`` of NumPy arrays in place;
- ``train_function(objective, optimizer, compiled, update, timed)``: a step ``(*batch)`` that updates the optimiser's variables
  in place and gives what the objective gave, a tuple, the loss first, and behind it what ``update(gradients)`` returned, a
  tuple or None; ``update`` is the optimiser's own unless one is given, which runs inside the step and may
  use `labdl.ops` only. While ``optimizer.version`` is the same, so are its variables. ``clear_gradients(variables)``
  forgets stored ones;
- ``gradient_function(objective, optimizer, compiled)``: ``(*batch)`` to what the objective gave and the gradients in the order
  of ``optimizer.variables``, dense, None where there is none; ``update_function(optimizer, update, compiled)``: a step from
  such gradients, for those that were added up or scaled;
- ``evaluate_function(forward, compiled)``: ``forward`` without gradients. What these compile is a
  `labdl.graph.compiled.Compilable`: a compiler that cannot read Python that dispatches asks for its flat form, one that
  can has it prepared;
- ``gradients(function, values)``: ``(result, gradients)`` of a scalar function of native tensors;
- ``native_module(call, branch, train)``: a module of the framework that runs ``call`` and holds the parameters of the
  branch (see `labdl.nn.native.Branch`) under the framework's names; ``is_native(m)``, ``native_parameters(m)``, by name
  the variable and whether it is learnt, and ``native_call(m, training, inputs)`` for modules of the framework inside a model;
- ``with_gradient(forward, pull)``: ``forward`` of native tensors with ``pull(gradients, tensors)`` for its gradient;
- ``finite(variables)``: the index of the first variable with a value that is not finite, or None;
- ``devices()``: the devices that are there, named "cpu", "cuda:0", "ascend:0", "mps", "xpu:0" whatever the framework calls
  them; ``current_device()`` and ``set_device(name)``: where ``tensor`` and ``variable`` make new ones (RuntimeError where
  it is too late to change); ``device_of(t)`` and ``to_device(t, name)``;
- ``array_members(shape_like)``: for each of its types, attributes that the Array API standard asks for and the framework
  lacks or means differently; they are set when somebody asks for its array namespace. ``shape_like(list)`` makes a class of
  tuples that do what lists do besides;
- ``host_function(bind)``: for custom operators, ``native(options)``, a differentiable function of native tensors that calls
  the NumPy functions of ``bind(options)`` (see `labdl.ops.host.HostFunction`), eager and in the framework's compilers;
- ``each_time(make, spec)``: optional, a tensor of the array that ``make()`` gives, made anew at each run of a compiled
  function; without it ``make()`` is called while a compiler reads, or leaves that to Python by itself;
- ``rest_threads()``: optional, called by a thread before another one begins to train: give back what the framework keeps for
  it that would make the other slower.
"""

from labdl.dispatch import default, device_of, devices, get, load, to_device, use
from labdl.frameworks import available
from labdl.frameworks import installed_backends as installed

__all__ = ["available", "default", "device_of", "devices", "get", "installed", "load", "to_device", "use"]
