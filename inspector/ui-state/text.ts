import type { InspectedRun } from '../../src/inspection/wire.ts';

/** Controls, and the marks that turn the direction of text or have no width: they would hide what stands there. Line ends and tabs are none. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Text of a model or a document as it is: what would be hidden stands as `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(
    HIDDEN,
    (found) => `‹U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** The same on one line, cut to so many characters. */
export function shortly(text: string, chars: number): string {
  const said = text.trim();
  const line = visible(said.slice(0, chars * 2).replace(/\s+/gu, ' ')).trim();
  if (line.length <= chars && said.length <= chars * 2) return line;
  return `${line.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** A value as JSON, cut to so many characters. No more of it is read than is shown. Undefined is nothing. */
export function shortJson(value: unknown, chars: number): string {
  if (value === undefined) return 'nothing';
  const text = written(value, chars + 1);
  return visible(text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`);
}

/** At least the first `room` characters of its JSON, where it has so many. */
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

/** A run in a list: what it was asked, how it stands, when it began, and its id as far as the terminal prints it. */
export function runName({ title, runId, status, startedAt }: InspectedRun): string {
  const id = shortly(runId.slice(0, 8), 8);
  return `${shortly(title, 60) || 'Untitled'} · ${status} · ${startedAt.slice(0, 19).replace('T', ' ')} · ${id}`;
}

/** A state as it is told in a line: its name, and that of the state around it where that helps: `yield.deciding`. */
export function stateName(id: string): string {
  return id
    .split('.')
    .slice(-2)
    .join('.')
    .replace(/^(?:postChain|attempt|actionLoop|cycling)\./u, '');
}
