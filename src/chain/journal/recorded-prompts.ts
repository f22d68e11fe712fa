import type { ReadReplyInput } from '../../../machines/attempt/actors.ts';
import type { AttachedFile, Attachment } from '../../../machines/contracts/attachment.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import { type ModelRequest, REPLY_FORMS } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { shownAttachments } from '../../../machines/policies/message-parts.ts';
import { type PromptSpec, requestOf } from '../../llm/request.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { createSpecs } from '../prompts/prompt-spec.ts';
import { requestDigest } from '../prompts/request-digest.ts';
import { modelCallInput } from '../runtime/describe-call.ts';
import { type PostChainOptions, resolveOptions } from '../runtime/options.ts';
import { runStartOf } from './journal-format.ts';
import { replaySteps, requireSameChart } from './replay.ts';

/** The request of a model call, rebuilt from the replayed state of a run and the templates of its prompts. */
export interface RebuiltPrompt {
  readonly name: string;
  readonly version: number;
  readonly request: ModelRequest;
  /** Whether the digest of the request is the recorded one, so that the text is exactly what the model received. */
  readonly isVerified: boolean;
  /** Why the request is not verified, in one sentence; null if it is. */
  readonly note: string | null;
}

/** The prompts of a run, by the number of their `prompt` entry. */
export interface RecordedPrompts {
  /** In order. An entry after a divergence of the replay is missing. */
  readonly seqs: readonly number[];
  /** Renders a prompt. Throws `invalid_journal` if it cannot be rebuilt. */
  at(seq: number): RebuiltPrompt;
}

/**
 * Replays a run, one step per entry so that other work can run in between, and returns its prompts. Pass the run's custom prompts.
 *
 * @throws PostChainError `invalid_journal` if another version of the chart recorded the run.
 */
export function* promptSteps(
  entries: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): Generator<void, RecordedPrompts> {
  const start = runStartOf(entries);
  requireSameChart(start);
  const parts = resolveOptions(options);
  const specFor = createSpecs(parts.prompts);
  const inputs = new Map<number, ReadReplyInput>();
  const calls = new Map<number, { readonly input: ReadReplyInput; readonly digest: string }>();
  for (const step of replaySteps(entries)) {
    for (const { activity, source, input } of step.calls) {
      const call = inputs.has(activity) ? null : modelCallInput(source, input);
      if (call !== null) inputs.set(activity, call);
    }
    yield;
  }
  for (const entry of entries) {
    const input = entry.type === 'prompt' ? inputs.get(entry.call ?? -1) : undefined;
    if (entry.type === 'prompt' && input !== undefined) calls.set(entry.seq, { input, digest: entry.digest });
  }
  return {
    seqs: [...calls.keys()],
    at(seq) {
      const call = calls.get(seq);
      if (call === undefined)
        throw new PostChainError(
          'invalid_journal',
          `The prompt of entry ${seq} cannot be rebuilt: the run does not replay up to there, or the entry is not a prompt.`,
        );
      const files = shownAttachments(call.input.task, call.input.input).map(withEmptyData);
      return rebuilt(parts.prompts[call.input.task as Task], specFor(call.input), { ...call, files }, start);
    },
  };
}

interface RecordedCall {
  readonly input: ReadReplyInput;
  readonly files: readonly AttachedFile[];
  readonly digest: string;
}

/** A rebuilt prompt does not contain the bytes of its files, which are in the journal. */
const withEmptyData = (attachment: Attachment): AttachedFile => ({ ...attachment, data: '' });

/** The journal does not record the form of a request, so each is tried until the digest fits. */
function rebuilt(
  prompt: Prompt,
  spec: PromptSpec,
  { input, files, digest }: RecordedCall,
  start: RunStart,
): RebuiltPrompt {
  const { name, version } = prompt;
  const forms = [false, true].flatMap((native) =>
    REPLY_FORMS.map((form) => requestOf(spec, input, form, native, files)),
  );
  const verified = forms.find((request) => requestDigest(request) === digest);
  if (verified !== undefined) return { name, version, request: verified, isVerified: true, note: null };
  const request = forms[0] as ModelRequest;
  return { name, version, request, isVerified: false, note: whyUnverified(prompt, input.task, start) };
}

function whyUnverified(prompt: Prompt, task: string, { prompts, redacted }: RunStart): string {
  if (redacted) return 'The run was redacted, so the prompt is rebuilt from redacted texts and cannot be verified.';
  return prompts[task]?.version === prompt.version
    ? 'The digest differs from the recorded one: the model received another text.'
    : `The run used another version of the prompt "${prompt.name}", so the model received another text.`;
}
