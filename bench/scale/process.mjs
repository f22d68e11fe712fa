/**
 * A worker process. It gets the module of its contender, whose `open(options)` returns the tasks by name, and then executes the tasks that its
 * parent sends. A result has the number of statements that the task has sent to PostgreSQL.
 */
import pg from 'pg';

let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = /** @type {typeof query} */ (
  function counted(.../** @type {unknown[]} */ args) {
    statements += 1;
    return Reflect.apply(query, this, args);
  }
);

const [, , module = '', text = '{}'] = process.argv;
const { open } = await import(module);
const tasks = { ...(await open(JSON.parse(text))), count: () => statements };

process.on('message', async (/** @type {{ task: string, options: object }} */ { task, options }) => {
  const before = statements;
  try {
    const result = await tasks[task](options);
    process.send?.({ result, statements: statements - before });
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
process.send?.({ result: null, statements: 0 });
