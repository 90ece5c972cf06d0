// Puts boxes in a row as near as possible to where they want to be, without overlap.

export interface Wish {
  /** Where the centre would like to be. */
  at: number;
  width: number;
}

/**
 * Centres for boxes in the given order, at least `gap` apart, with the least
 * sum of squared distances from the wishes (pool adjacent violators, O(n)).
 */
export function spread(wishes: Wish[], gap: number): number[] {
  // Measured from a packed row, "apart" becomes "not decreasing".
  const packed: number[] = [];
  wishes.forEach((wish, index) => {
    const before = index ? wishes[index - 1] : undefined;
    packed.push(
      before ? packed[index - 1] + (before.width + wish.width) / 2 + gap : 0
    );
  });
  const pools: { sum: number; count: number }[] = [];
  wishes.forEach((wish, index) => {
    let pool = { sum: wish.at - packed[index], count: 1 };
    for (
      let last = pools[pools.length - 1];
      last && last.sum / last.count > pool.sum / pool.count;
      last = pools[pools.length - 1]
    ) {
      pools.pop();
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
    }
    pools.push(pool);
  });
  const shifts = pools.flatMap(pool =>
    new Array<number>(pool.count).fill(pool.sum / pool.count)
  );
  return packed.map((place, index) => place + shifts[index]);
}
