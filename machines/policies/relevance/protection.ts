import type { Message } from '../../contracts/message.ts';

/** The user has answered for this message: it is kept, and not asked about again. */
export const KEPT_BY_USER = 'kept-by-user';
/** The request of this run is what everything else is held against: no rule touches it. */
export const REQUEST = 'request';

const PROTECTING: ReadonlySet<string> = new Set(['pinned', 'critical', REQUEST, KEPT_BY_USER]);

/** Whether no rule touches a message: it is pinned or critical, the request itself, or the user keeps it [U10]. */
export function isProtected({ tags }: Message): boolean {
  return tags.some((tag) => PROTECTING.has(tag));
}
