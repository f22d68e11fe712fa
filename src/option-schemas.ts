import { z } from 'zod';
import type { ChatModel } from '../machines/contracts/model.ts';

/** What options are made of in more than one place: things known by a method of theirs. */
export const having = (name: string, hint: string) =>
  z.custom((value) => typeof (value as Record<string, unknown> | null)?.[name] === 'function', hint);

export const aFunction = z.custom((value) => typeof value === 'function', 'wanted a function');

export const aClock = having('now', 'wanted a clock with now, setTimeout and clearTimeout');

export const aModel = having('stream', 'wanted a model with a stream method, say openaiModel({ model })').refine(
  (model) => ((model as ChatModel).contextWindowTokens ?? 0) > 0,
  'wanted a model that says its contextWindowTokens',
);
