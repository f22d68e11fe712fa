import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';
import { describeValue } from './invalid-option.ts';

/** What options are made of in more than one place: things known by a method of theirs. */
export const having = <Type>(name: string, hint: string) =>
  z.custom<Type>((value) => typeof (value as Record<string, unknown> | null)?.[name] === 'function', hint);

export const aFunction = z.custom((value) => typeof value === 'function', 'wanted a function');

export const aClock = having('now', 'wanted a clock with now, setTimeout and clearTimeout');

export const aSignal = having<AbortSignal>('addEventListener', 'wanted an AbortSignal');

export const aModel = having('stream', 'wanted a model with a stream method, say openaiModel({ model })').refine(
  (model) => ((model as ChatModel).contextWindowTokens ?? 0) > 0,
  'wanted a model that says its contextWindowTokens',
);

/** Throws `invalid_option` for what is no signal. */
export function requireSignal(signal: unknown): void {
  if (signal === undefined || aSignal.safeParse(signal).success) return;
  throw new PostChainError('invalid_option', `signal: got ${describeValue(signal)}; wanted an AbortSignal.`);
}
