import type { SimulatedClock } from 'xstate';
import type { ChatModel, ModelPart, ModelRequest } from '../../../../machines/contracts/model.ts';
import { definePrompt, type Prompt } from '../../../../src/engine/prompts/prompt.ts';
import { prompts } from '../../../../src/engine/prompts/registry.ts';
import { type ScriptedReply, scriptedModel } from '../../../../src/models/scripted.ts';
import { CLAIMS, MISFITS } from '../../../machines/policies/synthesis/draw-outcome.ts';
import type { Told } from '../../../machines/policies/synthesis/oracle.ts';
import type { Draws } from '../attempts/seeded.ts';

/** A model, and what the requirements make of it where it is asked. */
export interface DrawnModel {
  readonly how: Behaviour;
  readonly model: ChatModel & { readonly calls: readonly ModelRequest[] };
  readonly prompt: Prompt;
  /** When the signal aborts: never, before the start, or once the model is silent. */
  readonly abort: 'never' | 'before' | 'under way';
  readonly told: Pick<Told, 'wrote' | 'fallback'>;
}

const BEHAVIOURS = [
  'valid',
  'corrected',
  'misfit',
  'empty',
  'prose',
  'refused',
  'busy then valid',
  'throws',
  'throws at once',
  'silent',
  'stalls',
  'prompt throws',
  'aborted before',
  'aborted under way',
] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

const REPLY = {
  answerText: 'It was opened in 1932.',
  confidence: 0.9,
  usedMessageIds: ['p1'],
  notes: 'Sure.',
  ...CLAIMS,
};
const WROTE = { wrote: { text: REPLY.answerText, confidence: REPLY.confidence }, fallback: null };
const failed = (fallback: Told['fallback']) => ({ wrote: null, fallback });
const SILENT: ScriptedReply = { hang: true };

export function drawModel(draw: Draws): DrawnModel {
  const how = draw.pick(BEHAVIOURS);
  const misfit: ScriptedReply = { text: JSON.stringify(draw.pick(MISFITS)) };
  const parts = { how, prompt: prompts.synthesis, abort: 'never' as const };
  const always = (reply: ScriptedReply) => scriptedModel(() => reply);
  switch (how) {
    case 'valid':
      return { ...parts, model: always({ reply: REPLY }), told: WROTE };
    case 'corrected':
      return { ...parts, model: scriptedModel((_, call) => (call === 1 ? misfit : { reply: REPLY })), told: WROTE };
    case 'misfit':
      return { ...parts, model: always(misfit), told: failed('validation') };
    case 'empty':
      return { ...parts, model: always({ text: '' }), told: failed('validation') };
    case 'prose':
      return { ...parts, model: always({ text: 'It was {opened} in 1932, I dare say.' }), told: failed('validation') };
    case 'refused':
      return {
        ...parts,
        model: always({ failure: { code: 'unauthorized', retryable: false } }),
        told: failed('model'),
      };
    case 'busy then valid':
      return {
        ...parts,
        model: scriptedModel((_, call) => (call === 1 ? { failure: { code: 'rate_limited' } } : { reply: REPLY })),
        told: WROTE,
      };
    case 'throws':
      return { ...parts, model: always(null as never), told: failed('model') };
    case 'throws at once':
      return { ...parts, model: throwing(), told: failed('model') };
    case 'silent':
      return { ...parts, model: always(SILENT), told: failed('model') };
    case 'stalls':
      return { ...parts, model: always({ ...SILENT, text: '{"answerText": "It w' }), told: failed('model') };
    case 'prompt throws':
      return { ...parts, model: always({ reply: REPLY }), prompt: thrower, told: failed('prompt') };
    case 'aborted before':
      return { ...parts, model: always({ reply: REPLY }), abort: 'before', told: failed(null) };
    case 'aborted under way':
      return { ...parts, model: always(SILENT), abort: 'under way', told: failed(null) };
    default: {
      const never: never = how;
      return never;
    }
  }
}

const thrower = definePrompt({
  ...prompts.synthesis,
  user: () => {
    throw new Error('the template is broken');
  },
}) as Prompt;

/** A model that breaks its contract before its stream begins. */
function throwing(): DrawnModel['model'] {
  const calls: ModelRequest[] = [];
  return {
    id: 'throwing',
    contextWindowTokens: 128_000,
    calls,
    stream(request): AsyncIterable<ModelPart> {
      calls.push(request);
      throw new Error('no stream');
    },
  };
}

/** Lets everything happen that needs no time; then time passes, and so on until it is done. */
export async function play<T>(
  promise: Promise<T>,
  clock: SimulatedClock,
  whenStill: () => void = () => {},
): Promise<T> {
  let done = false;
  const over = promise.finally(() => {
    done = true;
  });
  for (let turn = 1; !done; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (done || turn % STILL !== 0) continue;
    whenStill();
    clock.increment(20_000);
  }
  return over;
}

/** Turns of the event loop in which something happens, if anything does without time. */
const STILL = 25;
