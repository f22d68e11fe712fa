import type { Field, Member } from './schema-fields.ts';

/** What is typed into a form so far, by the path of each part: `/limits/maxCycles`. Rows of a record are numbered: `/items/0`. */
export type Draft = Readonly<Record<string, string>>;

/** What a draft comes to: a value, or what is wrong with it, in words, by path. `value` is undefined where nothing was typed. */
export interface DraftValue {
  readonly value: unknown;
  readonly problems: Readonly<Record<string, string>>;
}

const FINE: Readonly<Record<string, string>> = {};

/** How many rows of a record are shown. */
export const rowsOf = (draft: Draft, path: string): number => Number(draft[`${path}#rows`] ?? '0');
export const rowsPath = (path: string): string => `${path}#rows`;
export const namePath = (path: string, row: number): string => `${path}/${row}#name`;

export function readDraft(field: Field, draft: Draft, path = '', isRequired = true): DraftValue {
  switch (field.kind) {
    case 'fixed':
      return { value: field.value, problems: FINE };
    case 'members':
      return readMembers(field.members, draft, path, isRequired);
    case 'record':
      return readRecord(field.value, draft, path, isRequired);
    default:
      return readTyped(field, draft[path] ?? '', path, isRequired);
  }
}

type Typed = Exclude<Field, { readonly kind: 'fixed' | 'members' | 'record' }>;

function readTyped(field: Typed, typed: string, path: string, isRequired: boolean): DraftValue {
  if (typed.trim() === '')
    return { value: undefined, problems: isRequired ? { [path]: 'Something is wanted here.' } : FINE };
  switch (field.kind) {
    case 'number':
      return readNumber(field, typed, path);
    case 'flag':
      return { value: typed === 'true', problems: FINE };
    case 'json':
      return readJson(typed, path);
    case 'text':
      return typed.length < field.minLength
        ? wrong(path, `At least ${field.minLength} characters are wanted.`)
        : { value: typed, problems: FINE };
    case 'choice':
      return { value: typed, problems: FINE };
    default:
      return field satisfies never;
  }
}

const wrong = (path: string, problem: string): DraftValue => ({ value: undefined, problems: { [path]: problem } });

function readNumber({ isWhole, least, most, above }: Extract<Field, { kind: 'number' }>, typed: string, path: string) {
  const value = Number(typed.trim().replace(/(?<=\d)[_,](?=\d{3}(\D|$))/gu, ''));
  if (!Number.isFinite(value)) return wrong(path, `"${typed.slice(0, 40)}" is no number.`);
  if (isWhole && !Number.isInteger(value)) return wrong(path, 'A whole number is wanted.');
  if (least !== null && value < least) return wrong(path, `At least ${least} is wanted.`);
  if (above !== null && value <= above) return wrong(path, `More than ${above} is wanted.`);
  if (most !== null && value > most) return wrong(path, `At most ${most} is wanted.`);
  return { value, problems: FINE };
}

function readJson(typed: string, path: string): DraftValue {
  try {
    return { value: JSON.parse(typed) as unknown, problems: FINE };
  } catch {
    return wrong(path, 'This is no JSON. A text stands in quotes: "so".');
  }
}

/** An optional object of which nothing was typed is left out. */
function readMembers(members: readonly Member[], draft: Draft, path: string, isRequired: boolean): DraftValue {
  const read = members.map(({ name, field, isRequired: wanted }) => ({
    name,
    isFixed: field.kind === 'fixed',
    ...readDraft(field, draft, `${path}/${name}`, wanted),
  }));
  const said = read.filter(({ value, isFixed }) => value !== undefined && !isFixed);
  const tried = read.some(({ name }) => isTouched(draft, `${path}/${name}`));
  if (!isRequired && said.length === 0 && !tried) return { value: undefined, problems: FINE };
  return {
    value: Object.fromEntries(read.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
    problems: Object.assign({}, ...read.map(({ problems }) => problems)),
  };
}

const isTouched = (draft: Draft, path: string): boolean =>
  Object.entries(draft).some(
    ([place, typed]) => typed.trim() !== '' && (place === path || place.startsWith(`${path}/`)),
  );

function readRecord(field: Field, draft: Draft, path: string, isRequired: boolean): DraftValue {
  const rows = Array.from({ length: rowsOf(draft, path) }, (_, row) => ({
    name: (draft[namePath(path, row)] ?? '').trim(),
    row,
    ...readDraft(field, draft, `${path}/${row}`),
  }));
  const filled = rows.filter(({ name, row }) => name !== '' || isTouched(draft, `${path}/${row}`));
  if (filled.length === 0) return { value: isRequired ? {} : undefined, problems: FINE };
  const problems: Record<string, string> = Object.assign({}, ...filled.map((row) => row.problems));
  const names = new Set<string>();
  for (const { name, row } of filled) {
    if (name === '') problems[namePath(path, row)] = 'A name is wanted here.';
    else if (names.has(name)) problems[namePath(path, row)] = `"${name}" stands here twice.`;
    names.add(name);
  }
  return { value: Object.fromEntries(filled.map(({ name, value }) => [name, value])), problems };
}
