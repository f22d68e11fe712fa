import type { InspectedRun } from '../../src/inspection/wire.ts';

/** Control, bidirectional and zero-width characters, which could hide text. Line breaks and tabs are not among them. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Makes hidden characters in text from models and documents visible, as `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(
    HIDDEN,
    (found) => `‹U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** Like `visible`, on one line of at most `chars` characters. */
export function shortly(text: string, chars: number): string {
  const said = text.trim();
  const line = visible(said.slice(0, chars * 2).replace(/\s+/gu, ' ')).trim();
  if (line.length <= chars && said.length <= chars * 2) return line;
  return `${line.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** A value as JSON of at most `chars` characters; reads no more than it shows. Undefined becomes "nothing". */
export function shortJson(value: unknown, chars: number): string {
  if (value === undefined) return 'nothing';
  const text = written(value, chars + 1);
  return visible(text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`);
}

/** At least the first `room` characters of its JSON, if it is that long. */
function written(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (typeof value !== 'object' || value === null) return String(JSON.stringify(value));
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const name of isList ? value.keys() : Object.keys(value)) {
    if (text.length >= room) return text;
    const label = isList ? '' : `${JSON.stringify(name)}: `;
    const member = (value as Readonly<Record<PropertyKey, unknown>>)[name];
    text += `${text.length > 1 ? ', ' : ''}${label}${written(member, room - text.length)}`;
  }
  return `${text}${isList ? ']' : '}'}`;
}

/** The name of a run in a list: request, status, start time and short id. */
export function runName({ title, runId, status, startedAt }: InspectedRun): string {
  const id = shortly(runId.slice(0, 8), 8);
  return `${shortly(title, 60) || 'Untitled'} · ${status} · ${startedAt.slice(0, 19).replace('T', ' ')} · ${id}`;
}

/** A short state name, with its parent if that helps: `yield.deciding`. */
export function stateName(id: string): string {
  return id
    .split('.')
    .slice(-2)
    .join('.')
    .replace(/^(?:postChain|attempt|actionLoop|cycling)\./u, '');
}
