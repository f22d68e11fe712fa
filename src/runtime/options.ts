import { z } from 'zod';
import { limitsSchema } from '../../machines/contracts/budget.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import { PHASES, type Phase, type Task } from '../../machines/contracts/phase.ts';
import { thresholdsSchema } from '../../machines/contracts/thresholds.ts';
import { isPhase } from '../../machines/policies/phase-selection.ts';
import type { Capability } from '../capabilities/capability.ts';
import type { Prompt } from '../prompts/prompt.ts';
import type { Decider } from './action-actors.ts';
import type { Clock } from './clock.ts';

/** What `createPostChain` takes; everything has a default. */
export interface PostChainOptions {
  /** The language model; without one the offline extractive model answers from the documents. */
  readonly model?: ChatModel;
  /** What Experience searches. */
  readonly documents?: PassageSource;
  readonly capabilities?: readonly Capability[];
  /** Says what comes after a capability's result; the default is always done, null never asks [R6]. */
  readonly decider?: Decider | null;
  readonly limits?: z.input<typeof limitsSchema>;
  readonly thresholds?: z.input<typeof thresholdsSchema>;
  /** Prompts to use in place of the product's own, one by one. */
  readonly prompts?: Partial<Record<Task, Prompt>>;
  readonly clock?: Clock;
  /** Makes the run ids; random by default. */
  readonly newId?: () => string;
}

export interface RunOptions {
  readonly request: string;
  /** Automatic: the chart decides where to go on. Manual: it asks, and waits for `run.directed` or `run.finished`. */
  readonly mode?: 'automatic' | 'manual';
  /** The phase to begin with; Action by default. */
  readonly startAt?: Phase;
  /** Aborting interrupts the run: it still answers, degraded. */
  readonly signal?: AbortSignal;
}

const optionsSchema = z.object({ limits: limitsSchema.prefault({}), thresholds: thresholdsSchema.prefault({}) });

/** Limits and thresholds with their defaults. Throws `invalid_option`, which names the first bad one. */
export function readOptions({ limits, thresholds }: PostChainOptions): z.output<typeof optionsSchema> {
  const read = optionsSchema.safeParse({ limits, thresholds });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.join('.') ?? '';
  const got = spell(issue?.path.reduce<unknown>((value, key) => (value as never)?.[key], { limits, thresholds }));
  throw new PostChainError('invalid_option', `${path || 'The options'}: got ${got}; ${hint(issue)}. Correct it.`);
}

function hint(issue: z.core.$ZodIssue | undefined): string {
  return issue === undefined ? 'wanted valid options' : issue.message.replace(/^./, (first) => first.toLowerCase());
}

const MAX_REQUEST_CHARS = 1_000_000;

/** The request, checked before anything starts. Throws `invalid_request` or `invalid_option`. */
export function readRun({
  request,
  mode = 'automatic',
  startAt = 'action',
}: RunOptions): Required<Omit<RunOptions, 'signal'>> {
  if (typeof request !== 'string' || request.trim() === '')
    throw new PostChainError(
      'invalid_request',
      `The request is ${typeof request === 'string' ? 'empty' : `no text (${typeof request})`}: wanted a question or a task in words.`,
    );
  if (request.length > MAX_REQUEST_CHARS)
    throw new PostChainError(
      'invalid_request',
      `The request has ${request.length} characters: wanted at most ${MAX_REQUEST_CHARS}; give long material as documents.`,
    );
  if (mode !== 'automatic' && mode !== 'manual')
    throw new PostChainError('invalid_option', `mode: got ${spell(mode)}; wanted "automatic" or "manual".`);
  return { request, mode, startAt: readPhase(startAt) };
}

/** A phase by its name. Throws `invalid_option`, which lists them. */
export function readPhase(name: string): Phase {
  if (isPhase(name)) return name;
  throw new PostChainError('invalid_option', `There is no phase ${spell(name)}: choose one of ${PHASES.join(', ')}.`);
}

function spell(value: unknown): string {
  return typeof value === 'string'
    ? `"${value}"`
    : typeof value === 'number'
      ? String(value)
      : (JSON.stringify(value) ?? String(value));
}
