import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess, within } from './process.mjs';

/** @type {readonly (readonly [library: import('./contender.mjs').Job['library'], trick: string])[]} */
const TRICKS = [
  ['postchain', 'answer to another question'],
  ['langgraph', 'answer to another question'],
  ['langgraph', 'answer to another question, without its id'],
  ['langgraph', 'state changed after the question'],
  ['langgraph', 'state changed after the question, without its id'],
  ['ai-sdk', 'answer to another question'],
  ['ai-sdk', 'state changed after the question'],
];

/**
 * Tries to get a large refund with the approval of a small one, and returns what was paid.
 *
 * @param {import('./crash.mjs').Model} model
 */
export async function measureApprovals(model) {
  /** @type {Record<string, string>} */
  const facts = {};
  for (const [library, trick] of TRICKS) {
    const folder = mkdtempSync(join(tmpdir(), 'postchain-agents-'));
    model.begin({ pattern: 'refund-approval' });
    const job = { library, trick, port: model.port, folder, effects: join(folder, 'effects.jsonl') };
    const { child, answer } = await startProcess(new URL('approval.mjs', import.meta.url), job);
    const { paid, error } = await within(answer, 'an answer');
    facts[`${library}, ${trick}`] = `${paid.length === 0 ? 'not paid' : 'PAID'}${error ? ` (${error})` : ''}`;
    child.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
  return facts;
}
