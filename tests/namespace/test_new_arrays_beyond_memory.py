"""New arrays larger than the memory are refused at once by a sentence with their size."""

import pytest

HUGE, SIDE = 2**44, 2**22
CALLS = {
    "arange": (HUGE,),
    "linspace": (0, 1, HUGE),
    "eye": (SIDE,),
    "zeros": (HUGE,),
    "ones": ((SIDE, SIDE),),
    "full": (HUGE, 2),
    "empty": (HUGE,),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", CALLS)
def test_new_arrays_beyond_the_memory_are_refused(name, xp):
    with pytest.raises(MemoryError, match=r"would give .* elements: this machine has .* GB of memory"):
        getattr(xp, name)(*CALLS[name])
