import type { CapabilityResult } from '../../contracts/capability.ts';
import type { ChainState } from '../../contracts/chain-state.ts';
import type { ActionResult } from '../../contracts/phases/action.ts';
import { operationsOfStep } from '../operations.ts';
import { draftMessage, type PhaseOutput } from './phase-output.ts';

/** On what a failed capability left: it holds nothing that an answer could rest on. */
export const FAILED = 'failed';

/** Action [C4]: the response is an assistant message, what a capability gave a search message. */
export function makeAction(
  state: ChainState,
  value: Omit<ActionResult, 'phase' | 'step'>,
  atMs: number,
): PhaseOutput<ActionResult> {
  const { step } = state.recursion;
  const list = operationsOfStep(step);
  const references = value.results.map((result) => {
    const content = describe(result);
    const holds = result.success || result.synthesized;
    const importance = holds ? 0.7 : 0.3;
    return list.add(
      draftMessage(state, 'action', atMs, {
        role: 'search',
        content,
        importance,
        tags: holds ? [] : [FAILED],
      }),
      'a capability ran',
    );
  });
  const { response } = value.reply;
  if (response !== '')
    list.add(
      draftMessage(state, 'action', atMs, { role: 'assistant', content: response, references }),
      'the response of Action',
    );
  const content = [response, ...value.results.map(describe)].filter((text) => text !== '').join('\n\n');
  return { result: { phase: 'action', step, ...value }, content, operations: list.all };
}

function describe({ capability, success, synthesized, output, error }: CapabilityResult): string {
  return success || synthesized ? `${capability}: ${output}` : `${capability} failed: ${error ?? 'no reason given'}`;
}
