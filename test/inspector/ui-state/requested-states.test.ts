import { expect, it, vi } from 'vitest';
import type { PageListener, PageSource } from '../../../inspector/wire/page-source.ts';

vi.stubGlobal('document', { visibilityState: 'hidden' });
const { createInspector } = await import('../../../inspector/ui-state/inspector.ts');
const { MAX_ENTRIES_WITH_STATES } = await import('../../../src/inspection/wire.ts');

/** A page with a recorded run of that many entries, sent without states. `requests` are the messages that it sends. */
function pageOf(entries: number) {
  const requests: unknown[][] = [];
  let listener: PageListener | undefined;
  const source: PageSource = {
    start: (given) => {
      listener = given;
    },
    open: (...request) => void requests.push(request),
    request: async () => ({ result: null, problem: 'The server is not running.' }),
  };
  const inspector = createInspector(source);
  listener?.runs([{ runId: 'long', kind: 'run', status: 'completed', live: false } as never], 'long', 0);
  const lines = Array.from({ length: entries }, (_, seq) => JSON.stringify({ seq, atMs: seq, type: 'end' }));
  listener?.entries('long', 0, lines);
  listener?.end('long', null);
  return { inspector, requests, listener, states: () => inspector.view.value?.states };
}

it('requests the states of a long run once, when they are needed', () => {
  const { inspector, requests, listener, states } = pageOf(MAX_ENTRIES_WITH_STATES + 1);
  expect(requests).toEqual([['long']]);
  expect(states()).toBe('omitted');
  inspector.requestStates('long');
  inspector.requestStates('long');
  expect(requests).toEqual([['long'], ['long', true]]);
  expect(states()).toBe('requested');
  listener?.states('long', 0, [JSON.stringify({ seq: 0, state: {} })]);
  listener?.end('long', null);
  expect(states()).toBe('sent');
});

it('does not request the states of a short run, which the server sends', () => {
  const { inspector, requests, states } = pageOf(10);
  inspector.requestStates('long');
  expect(requests).toEqual([['long']]);
  expect(states()).toBe('sent');
});
