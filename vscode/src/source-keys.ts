/** A key of an object literal, with the keys around it: `states`, `paying`, `on`, `cancel`. `at` is its offset in the text. */
interface SourceKey {
  readonly path: readonly string[];
  readonly at: number;
}

/** What has no keys: strings, templates and comments. */
const SKIPPED = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*.*?\*\//sy;
const KEY = /(?:'([^'\n]+)'|"([^"\n]+)"|([\w$]+))\s*:/y;

/** Returns the keys of all object literals of a JavaScript or TypeScript text, in their order. It need not be valid: people are typing it. */
export function sourceKeys(text: string): readonly SourceKey[] {
  const keys: SourceKey[] = [];
  const around: string[][] = [[]];
  let last: string[] = [];
  let begins = false;
  for (let at = 0; at < text.length; ) {
    const character = text[at] ?? '';
    KEY.lastIndex = at;
    const key = begins ? KEY.exec(text) : null;
    if (key !== null) {
      last = [...(around.at(-1) ?? []), key[1] ?? key[2] ?? key[3] ?? ''];
      keys.push({ path: last, at });
      at = KEY.lastIndex;
      begins = false;
      continue;
    }
    SKIPPED.lastIndex = at;
    if (SKIPPED.test(text)) {
      if (character !== '/') begins = false;
      at = SKIPPED.lastIndex;
      continue;
    }
    if (character === '{') around.push(last);
    if (character === '}' && around.length > 1) around.pop();
    if (character === '{' || character === ',') begins = true;
    else if (!/\s/u.test(character)) begins = false;
    at += 1;
  }
  return keys;
}

/** Returns where a state is written: the offset of its key, or of that of the event in it. Null if the text does not have it, for example because it is imported. */
export function placeOfState(keys: readonly SourceKey[], state: string, event: string | null): number | null {
  const wanted = state.split('.').flatMap((name) => ['states', name]);
  const endsWith = (path: readonly string[], end: readonly string[]): boolean =>
    end.every((name, index) => path[path.length - end.length + index] === name);
  const found = keys.find(({ path }) => endsWith(path, wanted));
  if (found === undefined) return null;
  const inside = [...found.path, 'on', event ?? ''];
  return (keys.find(({ path }) => path.length === inside.length && endsWith(path, inside)) ?? found).at;
}
