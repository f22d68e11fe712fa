import type { Draws } from '../../../src/engine/attempts/seeded.ts';
import { type Field, NOT_A_LIST, NOT_AN_OBJECT } from './values.ts';

type Given = Record<string, unknown>;

/** Draws fields: each is right, or with the chance of `sick` missing or wrong. */
export interface FieldDraws extends Draws {
  readonly sick: number;
  /** The value is put into the object under its name, and told as bad where it is. Gives it where it is right, else `otherwise`. */
  field<T>(
    into: Record<string, unknown>,
    field: Field,
    right: readonly T[],
    wrong: readonly unknown[],
    otherwise: T,
  ): T;
  bad(path: string): void;
}

/** An object whose members are drawn one by one; or none, which is wrong as a whole. */
export function membersOf<T>(
  draw: FieldDraws,
  given: Given,
  { name, path = name, optional = false }: Field,
  members: (into: Given) => T,
  otherwise: T,
): T {
  if (draw.chance(draw.sick * 0.3)) {
    given[name] = draw.pick(NOT_AN_OBJECT);
    draw.bad(path);
    return otherwise;
  }
  if (optional && draw.chance(0.3)) return otherwise;
  const into: Given = draw.chance(0.1) ? { extra: 'ignored' } : {};
  given[name] = into;
  return members(into);
}

/** A list with wrong items among the right ones, each told by its place; or what is no list. */
export function itemsOf<T>(
  draw: FieldDraws,
  into: Given,
  { name, path = name }: Field,
  right: readonly T[],
  wrong: readonly unknown[],
): readonly T[] {
  if (draw.chance(draw.sick * 0.3)) {
    into[name] = draw.pick(NOT_A_LIST);
    draw.bad(path);
    return [];
  }
  const given: unknown[] = [];
  const fit: T[] = [];
  into[name] = given;
  for (let left = draw.int(0, 3); left > 0; left -= 1) {
    if (draw.chance(draw.sick * 0.5)) {
      draw.bad(`${path}.${given.length}`);
      given.push(draw.pick(wrong));
    } else {
      const item = draw.pick(right);
      fit.push(item);
      given.push(item);
    }
  }
  return fit;
}
