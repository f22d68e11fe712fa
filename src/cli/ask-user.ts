import { createInterface, type Interface } from 'node:readline';
import type { ConsentRequest } from '../../machines/contracts/consent.ts';
import { PHASES } from '../../machines/contracts/phase.ts';
import type { RunEvent } from '../runtime/event-stream.ts';
import type { Run } from '../runtime/run.ts';
import { oneLine, printable } from './printable.ts';

/**
 * Puts the chart's questions to the person at the terminal: where to go on (manual mode), and consent. Where nobody can answer
 * (no terminal), consent is "keep" at once; directions are read from standard input, and its end means "finish". The run goes
 * on meanwhile: a question that it no longer waits for is answered into the void.
 */
export function createAsker({ send }: Pick<Run, 'send'>, input: NodeJS.ReadStream, out: NodeJS.WriteStream) {
  let reader: Interface | null = null;
  let lines: AsyncIterator<string> | null = null;
  async function ask(question: string): Promise<string | null> {
    reader ??= createInterface({ input, terminal: false });
    lines ??= reader[Symbol.asyncIterator]();
    out.write(question);
    const { value, done } = await lines.next();
    return done ? null : value.trim();
  }
  async function askDirection(proposal: string): Promise<void> {
    const said = await ask(`  Go on with (${PHASES.join(', ')}, finish, cancel) [${oneLine(proposal)}]: `);
    if (said === null || said === 'finish') send({ type: 'run.finished' });
    else if (said === 'cancel') send({ type: 'run.cancelled' });
    else send({ type: 'run.directed', phase: said === '' ? proposal : said });
  }
  async function askConsent({ items }: ConsentRequest): Promise<void> {
    if (!input.isTTY) return send({ type: 'consent.given', choice: 'keep' });
    const listed = items.map(({ preview, chars }) => `  - ${oneLine(preview)} (${chars} characters)`);
    out.write(`  These messages of yours are long:\n${listed.join('\n')}\n`);
    send({ type: 'consent.given', choice: (await ask('  keep, summarise or remove? [keep] ')) ?? 'keep' });
  }
  let proposal = 'finish';
  return {
    hear(event: RunEvent): void {
      if (event.type === 'direction-asked') {
        proposal = event.proposal;
        out.write(`\n${printable(event.answer) || '(no answer yet)'}\n\n`);
      }
      if (event.type === 'direction-asked' || event.type === 'direction-refused') void askDirection(proposal);
      if (event.type === 'consent-asked') void askConsent(event.request);
    },
    close: () => reader?.close(),
  };
}
