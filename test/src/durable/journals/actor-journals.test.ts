import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import { entriesInLine } from '../../../../src/durable/journals/journal-lines.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { postgresJournals } from '../../../../src/durable/journals/postgres-journals.ts';
import { sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { createDurableMachine } from '../../../../src/entries/durable.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { anError } from '../../../support/errors.ts';
import { JOURNAL_STORES } from '../../../support/journal-files.ts';

it.each(JOURNAL_STORES)('messages name the journal: %s', async (_, open) => {
  const store = open();
  store.create('a').write([{ seq: 0, atMs: 0, type: 'note', note: null }]);
  await expect(store.open('a')).rejects.toThrow('Journal "a" is still running in');
  await expect(entriesOf(store.read('b'))).rejects.toThrow(
    'There is no journal "b"; list() returns the existing journals',
  );
  expect(() => store.create('a')).toThrow('Journal "a" already exists');
});

it('a list reads neither what follows a start nor the entries before the end', async () => {
  const folder = temporaryFolder();
  const machine = createMachine({ initial: 'a', states: { a: { on: { END: 'b' } }, b: { type: 'final' } } });
  const actors = createDurableMachine(machine, { journals: fileJournals(folder) });
  const actor = await actors.open('x');
  await actor.send({ type: 'OTHER', text: 'x'.repeat(1_000_000) } as never);
  await actor.send({ type: 'END' });
  const lines = readFileSync(join(folder, 'x.jsonl'), 'utf8').trim().split('\n');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  expect([first, last].map((line) => entriesInLine(line)?.at(-1))).toMatchObject([{ type: 'start' }, { type: 'end' }]);
  expect(first.length + last.length).toBeLessThan(1_500);
  expect(await actors.list()).toMatchObject([{ status: 'done' }]);
});

/** An earlier version also compressed short steps. */
const COMPRESSED = [
  '{"seq":0,"count":1,"alone":true,"deflate":"hikvA-4R->DP{FE0&jIm<aGK(QD$SEQOoNm1s$fE{<>Yh@Dw@lnvL0>Oho[)b+FEkf.)eGBW:woTaltrI5y%}-kMnao!Z5![Zh%U4z(O]CJPcSG4)(aY%[m8ojz}TGmfe2F]#0{g8K<U)Bj}eLuNxXmq%OkZM#JfU6j%SrWN1GzxH.KXNrZoh3Np8@eTL@7f?xYaduH{NL4x]Z296#(gN}N2r+hIFG8<a9xS8>Fz=7octEXU0!Iv07*We=oD!>vEtzs+-Af!","sum":"881b393e"}',
  '{"seq":1,"count":2,"deflate":"Ta*+vaUo0OoYi:KLa4OqMrEm!1pVy#d<VFZRpq*2jG$DJuH&e%2VmQQ8!sSvPPV4/YYdcFp]H681Rkjf0esWI1u6vLSw}V1c(I7(CQhG0d^nvDbO)kOMmb)8bz^=%-P!&$c*4moRx?F67aSJR:jtni00","sum":"e8c0d1bc"}',
  '{"seq":3,"count":2,"deflate":"GsRB8:6:aV8C]MZ6d:t+*K&6SjEz8LG8+","sum":"49861c0e"}',
  '{"seq":5,"count":1,"alone":true,"deflate":"eZpKc.y#V[&OzMH>uyI!LArz0Amy>tc>r8!nt8+JqBKjnt[<+7Ep><i2IoW2A(.UK2<3EJf-2!igjYwK6FLF3Uf%)pP&DUV.+a=]p?HtCt}v.^ZZCfRY)IZ8GaklA8rFKR46}!9opA[-awUMPGd/jLpC5:nY7(s","sum":"d1c499a3"}',
];

it('continues a journal whose short steps are compressed, and compresses only long ones', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'x.jsonl');
  writeFileSync(path, COMPRESSED.map((line) => `${line}\n`).join(''));
  const state = (name: string) => ({ on: { NEXT: name } });
  const states = { a: state('b'), b: state('c'), c: state('d'), d: { type: 'final' as const } };
  const journals = fileJournals(folder);
  const actors = createDurableMachine(createMachine({ initial: 'a', states }), { journals });
  const actor = await actors.open('x');
  expect(actor.getSnapshot().value).toBe('c');
  await actor.send({ type: 'OTHER', text: 'x'.repeat(2_000) } as never);
  await actor.send({ type: 'NEXT' });
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(COMPRESSED.length);
  expect(lines.map((line) => /"(?:entries|deflate)":/u.exec(line)?.[0])).toEqual([
    '"entries":',
    '"deflate":',
    '"entries":',
  ]);
  expect(await entriesOf(journals.read('x'))).toEqual(actor.entries);
});

it.each([
  ['redct', { redct: String }],
  ['redact', { redact: 'secret' }],
  ['fsync', { fsync: 'allways' }],
  ['codec', { codec: 'aes' }],
])('each store rejects an unknown or invalid option: %s', (name, options) => {
  const invalid = anError('invalid_option', name);
  const folder = temporaryFolder();
  expect(() => fileJournals(folder, options as never)).toThrow(invalid);
  expect(() => sqliteJournals(join(folder, 'actors.db'), options as never)).toThrow(invalid);
  expect(() => postgresJournals('postgres://localhost/actors', options as never)).toThrow(invalid);
  expect(() => memoryJournals(options as never)).toThrow(invalid);
});
