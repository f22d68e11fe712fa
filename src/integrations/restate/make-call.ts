import { type CallEvent, LAST_EVENTS } from '../../../machines/contracts/call-event.ts';
import { type Activity, activityError } from '../../engine/activities/activity.ts';

/**
 * Makes a call to its end, and gives what the chart is to hear of it: that a reply began, and the end; what came between is not kept.
 * It never rejects, since who keeps the outcome would make a call that rejects again and again: what breaks is data too, and what
 * cannot be written down is broken. Given up, it gives nothing.
 */
export async function makeCall(made: Activity, givenUp: AbortSignal): Promise<readonly CallEvent[]> {
  try {
    const events = await eventsOf(made, givenUp);
    JSON.stringify(events);
    return events;
  } catch (error) {
    return [{ type: 'broken', error: activityError(error) }];
  }
}

function eventsOf(made: Activity, givenUp: AbortSignal): Promise<readonly CallEvent[]> {
  return new Promise((resolve) => {
    const begun: CallEvent[] = [];
    givenUp.addEventListener('abort', () => resolve([]), { once: true });
    made.execute((event) => {
      if (event.type === 'reply.started') begun.push(event);
      else if (LAST_EVENTS.has(event.type)) resolve([...begun, event]);
    });
  });
}
