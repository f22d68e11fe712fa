import { visible } from './text.ts';

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
