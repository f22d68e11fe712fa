import { invalid, limitOf } from '../context.ts';
import type { StoredRun } from '../served-runs.ts';
import { functionCallOf } from './openai-responses.ts';
import { callIdOf, callsOfTurns } from './openai-turns.ts';

interface Item {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** Returns the items that a response was made from, oldest first: the conversation and, after the first turn, calls and their results. */
export function inputItemsOf(runId: string, turn: number, run: StoredRun): readonly Item[] {
  const said = run.turns.map(({ role, text, files }, at): Item => {
    const said = { type: role === 'assistant' ? 'output_text' : 'input_text', text };
    const parts = [said, ...files.map(filePart)];
    return { id: `msg_${at}_${runId}`, type: 'message', role, status: 'completed', content: parts };
  });
  const called = callsOfTurns(run)
    .slice(0, turn - 1)
    .flatMap((calls) => [
      ...calls.map((call): Item => functionCallOf(runId, call)),
      ...calls.map((call): Item => {
        const call_id = callIdOf(runId, call);
        const output = run.outputs.get(call.questionId) ?? '';
        return { id: `fco_${call_id}`, type: 'function_call_output', call_id, output, status: 'completed' };
      }),
    ]);
  return [...said, ...called];
}

function filePart({ data, mediaType, name }: StoredRun['turns'][number]['files'][number]): object {
  const url = `data:${mediaType};base64,${data}`;
  return mediaType.startsWith('image/')
    ? { type: 'input_image', detail: 'auto', image_url: url }
    : { type: 'input_file', file_data: url, ...(name !== null && { filename: name }) };
}

/** Returns a page of items: by default the newest 20, the newest first. Throws an `HttpError` for an invalid query. */
export function itemPageOf(items: readonly Item[], query: Readonly<Record<string, string>>): object {
  const { after, order = 'desc' } = query;
  const limit = limitOf(query);
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'expected "asc" or "desc"', order);
  const ordered = order === 'asc' ? items : items.toReversed();
  const at = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && at === -1) throw invalid('after', 'expected the id of an item of this response', after);
  const data = ordered.slice(at + 1, at + 1 + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: at + 1 + limit < ordered.length,
  };
}
