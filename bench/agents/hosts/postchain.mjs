import { register } from 'node:module';
import { join } from 'node:path';
import { waitFor } from 'xstate';
import { createDurableMachine, sqliteJournals } from '../../../dist/durable.js';
import { NOTE, PATTERNS } from '../patterns.mjs';
import { bank, recordEffect } from '../world.mjs';

register(new URL('../example-hooks.mjs', import.meta.url));

/**
 * Loads an example of `examples/agents`, with its journals in an SQLite file.
 *
 * @param {string} pattern
 * @param {string} folder
 */
export async function load(pattern, folder) {
  const example = await import(new URL(`../../../examples/agents/${pattern}.ts`, import.meta.url).href);
  if (example.bank) example.bank.refund = bank.refund;
  for (const tool of example.tools ?? []) recordCalls(tool);
  const journals = sqliteJournals(join(folder, 'journals.db'));
  return createDurableMachine(example.machine, { journals, logger: () => {} });
}

/** Returns a function that starts or continues a run. @param {string} pattern @param {string} folder */
export async function host(pattern, folder) {
  const machine = await load(pattern, folder);
  return async (/** @type {string} */ id, /** @type {any} */ input) => {
    const actor = await machine.open(id, { input });
    for (;;) {
      const { status, output, value } = await waitFor(actor.ref, (state) => state.status !== 'active' || waits(state));
      if (status !== 'active') {
        await actor.close();
        return PATTERNS[pattern]?.resultOf({ output, value });
      }
      if (value === 'withPerson') await actor.send({ type: 'person.handedBack', text: NOTE });
      for (const { id: approval, digest } of actor.pending.approvals)
        await actor.send({ type: 'approval.given', id: approval, digest, decision: 'approve', by: 'Ada' });
    }
  };
}

const waits = (/** @type {import('xstate').AnyMachineSnapshot} */ { value }) =>
  value === 'asking' || value === 'withPerson';

/** @param {{ name: string, execute: (args: unknown, context: { idempotencyKey: string }) => unknown }} tool */
function recordCalls(tool) {
  const { execute } = tool;
  tool.execute = (args, context) => {
    recordEffect(tool.name, context.idempotencyKey, args);
    return execute(args, context);
  };
}
