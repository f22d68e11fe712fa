import type { RunStart } from '../../machines/contracts/journal.ts';
import { humanize } from './format.ts';
import { excerpt } from './text.ts';
import { settingTitle } from './what-if.ts';

const MAX_CHARS = 60;

/** What a fork changed, in words: `confidence to finish from 0.9 to 0.8`; empty for other runs. */
export const forkChanges = (start: RunStart | null): readonly string[] =>
  (start?.product.fork?.changes ?? []).flatMap((change) => {
    if (change === 'prompt') return 'the prompt';
    const [, path, json] = /^(.*?)=(.*)$/su.exec(change) ?? [];
    // Other words name options that the fork has kept.
    if (path === undefined || json === undefined) return [];
    const [group = '', ...names] = path.split('.');
    const words = excerpt(json.replace(/^"(.*)"$/su, '$1'), MAX_CHARS);
    if (group === 'phase') return `continued with ${words}`;
    if (group === 'reply') return `${names.map(humanize).join(', ')} of the reply: ${words}`;
    const numbers = Object(group === 'limits' || group === 'thresholds' ? start?.input[group] : null) as Record<
      string,
      unknown
    >;
    const before = numbers[names[0] ?? ''];
    const title = settingTitle(path).toLowerCase();
    return typeof before === 'number' ? `${title} from ${before} to ${words}` : `${title} ${words}`;
  });
