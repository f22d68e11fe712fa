import { once } from 'node:events';

/** Resolves on Ctrl-C or SIGTERM. A second signal ends the process. */
export async function untilStopped(): Promise<void> {
  const listening = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal: listening.signal })));
  listening.abort();
}
