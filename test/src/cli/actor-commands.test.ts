import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import {
  answerCommand,
  forkActor,
  repairCommand,
  replayActor,
  resumeActor,
  sendCommand,
  stopCommand,
} from '../../../src/cli/actor-commands.ts';
import { deleteRuns } from '../../../src/cli/delete-runs.ts';
import { find, requireHosted } from '../../../src/cli/find-run.ts';
import { runsCommand } from '../../../src/cli/runs-command.ts';
import { showCommand } from '../../../src/cli/show-command.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { sqliteJournals } from '../../../src/durable/journals/sqlite-journals.ts';
import {
  approval,
  createDurableMachine,
  defineGuard,
  fileJournals,
  fromDurable,
  memoryJournals,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { throwing } from '../../support/errors.ts';
import { checkingMachine } from '../../support/recorded-actors.ts';
import { startScripted } from '../../support/run-chain.ts';
import { fakeTerminal } from '../../support/terminal.ts';

const refunds = setup({
  types: { context: {} as { amount: number }, events: {} as { type: 'order' | 'refund'; amount: number } },
  actors: { ask: approval, pay: fromPromise<string, number>(async ({ input }) => `paid ${input}`) },
}).createMachine({
  id: 'refunds',
  context: { amount: 0 },
  initial: 'idle',
  states: {
    idle: { on: { refund: { target: 'asking', actions: assign({ amount: ({ event }) => event.amount }) } } },
    asking: {
      invoke: {
        src: 'ask',
        input: ({ context }) => ({ question: { amount: context.amount } }),
        onDone: [{ guard: ({ event }) => event.output.decision === 'approve', target: 'paying' }, { target: 'idle' }],
      },
    },
    paying: { invoke: { src: 'pay', input: ({ context }) => context.amount, onDone: 'paid', onError: 'idle' } },
    paid: { type: 'final' },
  },
  output: ({ context }) => `paid ${context.amount}`,
});

/** A module that exports the machine, as a project has one. */
function moduleOf(machine = refunds, journals = memoryJournals()) {
  const host = createDurableMachine(machine, { journals });
  const module = join(temporaryFolder(), 'refunds.mjs');
  writeFileSync(module, 'export const { host } = globalThis.exportedHosts;');
  Object.assign(globalThis, { exportedHosts: { host } });
  return { host, module: [module], journals };
}

it('an actor gets an event and an answer from the command line, each once', async () => {
  const { host, module } = moduleOf();
  await (await host.open('r-1')).close();
  const asked = await sendCommand('r-', '{"type":"refund","amount":40}', { module, id: 'one' });
  expect(asked).toMatchObject({ code: 0, text: expect.stringContaining('r-1') });
  expect(asked.text).toContain('waiting');
  expect(await sendCommand('r-1', '{"type":"refund","amount":90}', { module, id: 'one' })).toMatchObject({ code: 1 });
  await expect(answerCommand('r-1', 'approve', 'another', { module })).rejects.toThrow(
    /approval:\S+: \{"amount":40\}/u,
  );
  const answered = await answerCommand('r-1', 'approve', undefined, { module, by: 'Ada' });
  expect(answered).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^Question approval:\S+: \{"amount":40\}\n.* · completed.*\nOutput: "paid 40"\n$/u),
  });
  const { actor } = await requireHosted('r-1', { module });
  expect(actor.status).toBe('done');
  await expect(answerCommand('r-1', 'deny', undefined, { module })).rejects.toThrow('it has no open question');
});

it('an approval of an actor whose process was killed is answered', async () => {
  const { host, journals } = moduleOf();
  const actor = await host.open('r-1');
  await actor.send({ type: 'refund', amount: 40 });
  await actor.close();
  const entries = actor.entries.filter(({ type }) => type !== 'closed');
  await journals.delete('r-1');
  const writer = journals.create('r-1');
  writer.write(entries);
  await writer.close();
  const { module } = moduleOf(refunds, journals);
  expect((await requireHosted('r-1', { module })).actor.status).toBe('interrupted');
  const { terminal, shown } = fakeTerminal(200);
  await showCommand('r-1', { module }, terminal.out);
  expect(shown().at(-1)).toMatch(
    /^Waits for approval approval:\S+: \{"amount":40\}\. Answer with: postchain approve r-1 --module FILE$/u,
  );
  const changed = moduleOf(createMachine({ id: 'refunds' }) as never, journals);
  await showCommand('r-1', { module: changed.module }, terminal.out);
  expect(shown().join('\n')).toContain('\nIts questions cannot be read: actor r-1: the machine differs');
  const again = moduleOf(refunds, journals);
  expect(await answerCommand('r-1', 'approve', undefined, again)).toMatchObject({ code: 0 });
});

it('an actor is replayed and continued with the module of its machine, and a difference exits with 1', async () => {
  const { host, module, journals } = moduleOf();
  await (await host.open('r-1')).close();
  const hosted = await requireHosted('r-1', { module });
  expect(await replayActor(hosted)).toEqual({ text: 'Identical: 2 entries\n', code: 0 });
  expect((await resumeActor(hosted)).text).toContain('waiting');
  await sendCommand('r-1', '{"type":"refund","amount":1}', { module });
  const other = moduleOf(createMachine({ id: 'refunds', on: { refund: {} } }) as never, journals);
  const changed = await replayActor(await requireHosted('r-1', { module: other.module }));
  expect(changed).toMatchObject({ code: 1, text: expect.stringContaining('Different: entry') });
});

it('an actor is stopped once, before its due timer, and a second stop exits with 1', async () => {
  const late = createMachine({
    id: 'refunds',
    after: { 1000: '.end' },
    initial: 'idle',
    states: { idle: {}, end: {} },
  });
  const { module, journals } = moduleOf(late as never);
  const past = { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} };
  await (await createDurableMachine(late, { journals, clock: past }).open('r-1')).close();
  expect(await stopCommand('r-', { module })).toMatchObject({ code: 0, text: expect.stringContaining('stopped') });
  const stored = await entriesOf(journals.read('r-1'));
  expect(stored.map(({ type }) => type)).not.toContain('timer');
  const again = 'Nothing changed: the actor has already ended.';
  expect(await stopCommand('r-1', { module })).toMatchObject({ code: 1, text: expect.stringContaining(again) });
});

it('a fork continues until it only waits or ends', async () => {
  const { host, module } = moduleOf();
  await (await host.open('r-1')).close();
  await sendCommand('r-1', '{"type":"refund","amount":40}', { module });
  await answerCommand('r-1', 'approve', undefined, { module });
  const { text, code } = await forkActor(await requireHosted('r-1', { module }), 6);
  expect(code).toBe(0);
  expect(text).toMatch(/^r-1-fork-1 is a fork of r-1 at entry 6\.\nr-1-fork-1 · .* · waiting · /u);
  const forkOfFork = await forkActor(await requireHosted('r-1-fork-1', { module }), 6);
  expect(forkOfFork.text).toMatch(/^r-1-fork-2 is a fork of r-1-fork-1 at entry 6\./u);
});

it('a command without the module of the machine names the option to pass', async () => {
  const { module } = moduleOf();
  await expect(requireHosted('r-1', {})).rejects.toThrow('pass --module FILE');
  await expect(requireHosted('r-1', { module })).rejects.toThrow(
    /^Actor "r-1" not found in the stores of .*; "postchain runs --journals PLACE" lists the ids$/u,
  );
  await expect(sendCommand('r-1', '{', { module })).rejects.toThrow('not found');
});

it('the model calls of an actor are printed as those of a run', async () => {
  const journals = temporaryFolder();
  const host = createDurableMachine(checkingMachine(), { journals: fileJournals(journals) });
  await (await host.open('c-1')).output;
  const { terminal, shown } = fakeTerminal(200);
  await showCommand('c-1', { journals }, terminal.out);
  const printed = shown().join('\n');
  expect(printed).toMatch(/attempt-start .* check, attempt 1\n/u);
  expect(printed).toMatch(/attempt-end .* check, attempt 1 failed: schema\/invalid_reply: /u);
  expect(printed).toMatch(/attempt-end .* check, attempt 2 succeeded, \d+ tokens/u);
  expect(printed).toMatch(/text-delta .* \{"ok/u);
});

it('the entries of the root are printed without its path, which is empty', async () => {
  const journals = temporaryFolder();
  const actor = await createDurableMachine(refunds, { journals: fileJournals(journals) }).open('r-1');
  await actor.send({ type: 'refund', amount: 5 });
  await actor.close();
  const { terminal, shown } = fakeTerminal();
  await showCommand('r-1', { journals }, terminal.out);
  expect(shown().join('\n')).toMatch(/delivery +\d+ ms +refund amount 5/u);
});

it('the objects that a guard compared are shown as JSON', async () => {
  const journals = temporaryFolder();
  const isOpen = defineGuard(() => ({ holds: true, inputs: { order: { cents: 900 } } }));
  const machine = createMachine({ id: 'm', on: { go: { guard: isOpen } } });
  const actor = await createDurableMachine(machine, { journals: fileJournals(journals) }).open('a');
  await actor.send({ type: 'go' });
  await actor.close();
  const { terminal, shown } = fakeTerminal(200);
  await showCommand('a', { journals }, terminal.out);
  expect(shown().join('\n')).toContain('(order {"cents":900})');
});

it('the list of runs with an interrupted actor names the option that continues it', async () => {
  const journals = temporaryFolder();
  const never = fromPromise(() => new Promise(() => {}));
  const machine = createMachine({ id: 'stuck', invoke: { src: never } });
  await (await createDurableMachine(machine, { journals: fileJournals(journals) }).open('s-1')).close();
  const listed = await runsCommand({ journals });
  expect(listed).toContain('postchain resume <run>, for an actor with --module FILE');
  expect(listed).not.toContain('postchain approve');
});

it('the list of runs has queued actors, and when they begin', async () => {
  const journals = join(temporaryFolder(), 'actors.db');
  const store = sqliteJournals(journals);
  const host = createDurableMachine(createMachine({ id: 'order' }), { journals: store, queue: {} });
  await host.enqueue('o-1', { priority: 5 });
  await host.enqueue('o-2', { delayMs: 1e12 });
  store.close();
  const listed = await runsCommand({ journals });
  expect(listed).toMatch(/o-1 .* queued +\(begins when a worker has a free slot, priority 5\) actor of order/u);
  expect(listed).toMatch(/o-2 .* queued +\(begins at 20.* or later\) actor of order/u);
});

it('a name is looked up as a complete id, then as a prefix of run ids, then as a prefix of actor ids', async () => {
  const { host, module } = moduleOf();
  const journals = temporaryFolder();
  for (const runId of ['order', 'orders-1'])
    await startScripted({}, { newId: () => runId, journals: fileJournals(journals) }).run.answer;
  for (const id of ['order-1', 'last-order', 'orders']) await (await host.open(id)).close();
  const folder = dirname(String(module));
  renameSync(String(module), join(folder, 'postchain.config.mjs'));
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const idOf = async (name: string) => {
    const found = await find(name, { journals });
    return found.kind === 'run' ? `run ${found.runId}` : `actor ${found.id}`;
  };
  const names = ['order', 'orders', 'orders-', 'order-', 'last-'];
  const found = await Promise.all(names.map(idOf));
  const latest = [await idOf('last'), (await find('last', { journals, module: ['postchain.config.mjs'] })).kind];
  cwd.mockRestore();
  expect(found).toEqual(['run order', 'actor orders', 'run orders-1', 'actor order-1', 'actor last-order']);
  expect(latest).toEqual([expect.stringMatching(/^run /u), 'actor']);
});

/** Two actors that have failed. Their call succeeds from the third time on. */
async function failedPayments() {
  let calls = 0;
  const pay = fromPromise(async () => {
    calls += 1;
    if (calls <= 2) throw new Error('card refused');
    return 'receipt';
  });
  const machine = createMachine({
    id: 'refunds',
    invoke: { src: pay, onDone: '.paid' },
    initial: 'due',
    states: { due: {}, paid: {} },
  });
  const { host, module } = moduleOf(machine as never);
  for (const id of ['p-1', 'p-2']) {
    const actor = host.start(id, { product: { customer: id === 'p-1' ? 7 : 'ada' } });
    await expect(actor.output).rejects.toThrow('card refused');
  }
  return { host, module };
}

it('a failed actor is retried from the command line, and shows why it failed', async () => {
  const { host, module } = await failedPayments();
  expect(await runsCommand({ module })).toContain('card refused');
  const preview = await repairCommand('retry', ['p-1'], { module, dryRun: true });
  expect(preview).toEqual({ code: 0, text: 'p-1: would be retried\n1 of 1 actor would be retried.\n' });
  expect((await host.list({ status: 'error' })).length).toBe(2);
  const retried = await repairCommand('retry', ['p-1'], { module });
  expect(retried).toMatchObject({ code: 0, text: expect.stringMatching(/^p-1: retried\np-1 · .*waiting/u) });
  expect(await repairCommand('retry', ['p-1'], { module })).toMatchObject({ code: 1 });
  const skipped = await repairCommand('skip', ['p-2'], { module, output: '"by hand"' });
  expect(skipped).toMatchObject({ code: 0, text: expect.stringContaining('p-2: skipped') });
});

it('all failed actors that match are repaired at once, and left to workers', async () => {
  const { host, module } = await failedPayments();
  const none = repairCommand('retry', [], { module });
  await expect(none).rejects.toThrow('expected ids of actors, --where NAME=VALUE or --all');
  await expect(repairCommand('retry', [], { module, where: ['customer'] })).rejects.toThrow('expected NAME=VALUE');
  for (const where of [['customer=7'], ['customer=ada']]) {
    const { text } = await repairCommand('retry', [], { module, where, dryRun: true });
    expect(text).toMatch(/^p-[12]: would be retried\n1 of 1 actor would be retried\.\n$/u);
  }
  const { text, code } = await repairCommand('retry', [], { module, all: true });
  expect([code, text]).toEqual([0, 'p-2: retried\np-1: retried\n2 of 2 actors retried; a worker continues them.\n']);
  expect((await host.wake()).toSorted()).toEqual(['p-1', 'p-2']);
  expect((await host.list()).map(({ status }) => status)).toEqual(['waiting', 'waiting']);
});

it('an event for an actor that another process holds is stored, and exits with 0', async () => {
  const { host, module, journals } = moduleOf();
  const holder = createDurableMachine(refunds, { journals });
  const actor = await holder.open('r-1');
  const { text, code } = await sendCommand('r-1', '{"type":"refund","amount":40}', { module });
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(/^Stored\. Journal "r-1" is still running in this process\.\nr-1 · .* · running\n$/u),
  ]);
  await vi.waitFor(() => expect(actor.pending.approvals.length).toBe(1));
  expect(await answerCommand('r-1', 'approve', undefined, { module })).toMatchObject({ code: 0 });
  expect(await actor.output).toBe('paid 40');
  expect(host.isOpen('r-1')).toBe(false);
});

it('an event that is ignored, or makes the actor fail, exits with 1 and prints why', async () => {
  const machine = createMachine({
    id: 'refunds',
    initial: 'idle',
    states: { idle: { on: { refund: { actions: assign(throwing('no budget')) } } } },
  });
  const { host, module } = moduleOf(machine as never);
  await (await host.open('r-1')).close();
  for (const id of [undefined, 'one']) {
    const ignored = await sendCommand('r-1', 'order', { module, ...(id && { id }) });
    expect([ignored.code, ignored.text]).toEqual([
      1,
      expect.stringMatching(/^Nothing changed: .*"order" was ignored in "idle"; the actor accepts refund\.\nr-1 /u),
    ]);
  }
  const failed = await sendCommand('r-1', 'refund', { module });
  expect([failed.code, failed.text]).toEqual([
    1,
    expect.stringMatching(/^The actor has failed\.\nr-1 · .* · failed · no budget\n$/u),
  ]);
  const late = await sendCommand('r-1', 'refund', { module });
  expect([late.code, late.text]).toEqual([1, expect.stringMatching(/^Nothing changed: .*the actor has ended/u)]);
});

it('deleting an actor with its module stops its child processes', async () => {
  const file = join(temporaryFolder(), 'actors.db');
  const store = sqliteJournals(file);
  const child = createDurableMachine(createMachine({ id: 'child' }), { journals: store });
  const parent = createMachine({ id: 'refunds', invoke: { src: fromDurable(child) } });
  const { host, module } = moduleOf(parent as never, store as never);
  await (await host.open('p-1')).park({ wait: true });
  await vi.waitFor(async () => expect(await child.list()).toHaveLength(1));
  await deleteRuns({ journals: file, module, delete: ['p-1'], yes: true }, null);
  expect((await store.list()).map(({ id }) => id)).not.toContain('p-1');
  await vi.waitFor(async () => {
    await child.wake();
    expect(await child.list()).toMatchObject([{ status: 'stopped' }]);
  });
  store.close();
});
