// Ids and names for new nodes.

const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del ' +
    'elif else except finally for from global if import in is lambda ' +
    'nonlocal not or pass raise return try while with yield'
  ).split(' ')
);

/** Whether a name is a valid Python identifier. */
export function isIdentifier(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !KEYWORDS.has(name);
}

/** A name like `wanted` that is not in `taken`: conv2d, conv2d_1, conv2d_2 … */
export function uniqueName(
  wanted: string,
  taken: { has(name: string): boolean }
): string {
  if (isIdentifier(wanted) && !taken.has(wanted)) {
    return wanted;
  }
  const stem = wanted.replace(/_\d+$/, '') || 'layer';
  for (let n = 1; ; n++) {
    const name = `${stem}_${n}`;
    if (!taken.has(name)) {
      return name;
    }
  }
}

/** A path like `wanted` that is not taken; a number at the end is incremented. */
export function uniquePath(
  wanted: string,
  taken: { has(name: string): boolean }
): string {
  const at = wanted.lastIndexOf('/') + 1;
  const home = wanted.slice(0, at);
  const word = wanted.slice(at);
  if (!/^\d+$/.test(word)) {
    const inside = { has: (name: string) => taken.has(home + name) };
    return home + uniqueName(word, inside);
  }
  let number = Number(word);
  while (taken.has(`${home}${number}`)) {
    number++;
  }
  return `${home}${number}`;
}

/** The default name for a type: its last part in lower case. */
export function nameOfType(type: string): string {
  const last = type.split('.').pop() ?? '';
  const plain = last.toLowerCase().replace(/[^\p{L}\p{N}_]/gu, '');
  return /^[\p{L}_]/u.test(plain) ? plain : `layer_${plain}`;
}

/** A short id; random, because two users may add a node at the same time. */
export function newId(
  prefix: string,
  taken: { has(id: string): boolean }
): string {
  for (;;) {
    const id = prefix + Math.random().toString(36).slice(2, 10);
    if (!taken.has(id)) {
      return id;
    }
  }
}
