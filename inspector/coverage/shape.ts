/** Whether a value is what it is taken for. */
export type Is<Type> = (value: unknown) => value is Type;

export const isText: Is<string> = (value): value is string => typeof value === 'string';
export const isFlag: Is<boolean> = (value): value is boolean => typeof value === 'boolean';
export const isNumber: Is<number> = (value): value is number => Number.isFinite(value);
/** A number of times, or a place in a list. */
export const isCount: Is<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export const isOneOf =
  <const Type extends string>(...all: readonly Type[]): Is<Type> =>
  (value): value is Type =>
    (all as readonly unknown[]).includes(value);

export const isNullOr =
  <Type>(is: Is<Type>): Is<Type | null> =>
  (value): value is Type | null =>
    value === null || is(value);

export const isListOf =
  <Type>(is: Is<Type>): Is<readonly Type[]> =>
  (value): value is readonly Type[] =>
    Array.isArray(value) && value.every(is);

export const isRecordOf =
  <Type>(is: Is<Type>): Is<Readonly<Record<string, Type>>> =>
  (value): value is Readonly<Record<string, Type>> =>
    isObject(value) && Object.values(value).every(is);

/** What it has beside these is of no moment. */
export const isShape =
  <Type extends object>(members: { readonly [Key in keyof Type]-?: Is<Type[Key]> }): Is<Type> =>
  (value): value is Type =>
    isObject(value) && Object.entries<Is<unknown>>(members).every(([key, is]) => is(ownMember(value, key)));

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ownMember = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
