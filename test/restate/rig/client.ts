import { connect } from '@restatedev/restate-sdk-clients';
import type { JournalPage, RestateChain } from '../../../src/integrations/restate/index.ts';
import type { RestateServer } from './restate-server.ts';

/** Talks to a run, whether it has begun or not. */
export function runAt({ ingress }: RestateServer, key: string, name = 'chain') {
  return connect({ url: ingress }).workflowClient<RestateChain>({ name } as RestateChain, key);
}

/** All that a run has written, page by page. */
export async function journalOf(run: ReturnType<typeof runAt>): Promise<JournalPage['entries']> {
  const entries: JournalPage['entries'][number][] = [];
  for (;;) {
    const page = await run.journal({ from: entries.length });
    entries.push(...page.entries);
    if (page.entries.length === 0) return entries;
  }
}
