// Texts such as normal(std=0.01) as a name and its settings, and back.
import type { Json, ParamSchema } from '../api/graph';

export interface CallText {
  name: string;
  settings: { [name: string]: Json };
}

/** A string, a number with its sign, a word, or one sign of punctuation. */
const TOKEN =
  /\s*("[^"\\]*"|'[^'\\]*'|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[A-Za-z_]\w*|[=,()[\]])/iy;

/** The call that a text stands for; undefined for anything else. */
export function readCall(
  text: Json | undefined,
  calls: { [name: string]: ParamSchema },
  names: Json[]
): CallText | undefined {
  if (typeof text !== 'string') {
    return undefined;
  }
  if (names.includes(text)) {
    return { name: text, settings: {} };
  }
  const tokens = split(text.trim());
  const [name, opening] = tokens;
  const known = Object.keys(calls[name]?.properties ?? {});
  if (!names.includes(name) || opening !== '(' || tokens.at(-1) !== ')') {
    return undefined;
  }
  const rest = tokens.slice(2);
  const settings: CallText['settings'] = {};
  for (let position = 0; rest[0] !== ')'; position++) {
    const isNamed = rest[1] === '=';
    const key = isNamed ? rest[0] : known[position];
    rest.splice(0, isNamed ? 2 : 0);
    const value = readValue(rest);
    const isNew = known.includes(key) && !(key in settings);
    if (!isNew || value === undefined) {
      return undefined;
    }
    settings[key] = value;
    if (rest[0] === ',') {
      rest.shift();
    } else if (rest[0] !== ')') {
      return undefined;
    }
  }
  return rest.length === 1 ? { name, settings } : undefined;
}

/** The text of a call, as short as it can be. */
export function writeCall(
  name: string,
  settings: CallText['settings']
): string {
  const written = Object.entries(settings).map(
    ([key, value]) => `${key}=${JSON.stringify(value)}`
  );
  return written.length ? `${name}(${written.join(', ')})` : name;
}

/** The tokens of a text; none if one cannot be read. */
function split(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) {
      return [];
    }
    tokens.push(match[1]);
  }
  return tokens;
}

/** Takes a literal from the front of the tokens. */
function readValue(tokens: string[]): Json | undefined {
  const token = tokens.shift();
  if (token === undefined) {
    return undefined;
  }
  if (/^["']/.test(token)) {
    return token.slice(1, -1);
  }
  if (token !== '[' && token !== '(') {
    const value = Number(token);
    return Number.isFinite(value) ? value : undefined;
  }
  const closing = token === '[' ? ']' : ')';
  const items: Json[] = [];
  while (tokens[0] !== closing) {
    const item = readValue(tokens);
    if (item === undefined) {
      return undefined;
    }
    items.push(item);
    if (tokens[0] === ',') {
      tokens.shift();
    } else if (tokens[0] !== closing) {
      return undefined;
    }
  }
  tokens.shift();
  return items;
}
