import Database from 'libsql';

/** Another program that holds the write lock of an SQLite file from its start until it is told to end: `node lock-holder.mjs FILE`. */
const file = new Database(process.argv[2], { timeout: 10_000 });
file.exec('BEGIN IMMEDIATE');
process.on('disconnect', () => process.exit());
process.on('message', () => {
  file.exec('COMMIT');
  file.close();
  process.exit();
});
process.send('locked');
