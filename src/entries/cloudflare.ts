/** Journals of durable actors in Cloudflare Durable Objects. */

export { durableObjectJournals, type ObjectStorage } from '../durable/journals/durable-object-journals.ts';
