import { crc32, deflateRawSync } from 'node:zlib';

/** A line of text. Without a position, it is placed below the previous line. */
type PdfLine = string | { readonly text: string; readonly x: number; readonly y: number };

/** Returns a PDF with these lines of text, page by page. */
export function pdfOf(pages: readonly (readonly PdfLine[])[]): Uint8Array {
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', ''];
  const kids: number[] = [];
  for (const lines of pages) {
    const placed = lines.map((line, at) => (typeof line === 'string' ? { text: line, x: 72, y: 720 - 20 * at } : line));
    const text = placed.map((line) => `1 0 0 1 ${line.x} ${line.y} Tm (${line.text}) Tj`).join('\n');
    const stream = `BT /F1 12 Tf\n${text}\nET`;
    objects.push(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
    const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
    const resources = `<< /Font << /F1 ${font} >> >>`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${objects.length} 0 R /Resources ${resources} >>`,
    );
    kids.push(objects.length);
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.map((id) => `${id} 0 R`).join(' ')}] /Count ${kids.length} >>`;
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + trailer, 'latin1');
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
const WORDS = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const MAIN = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';

/** Returns a DOCX file with this XML as its body, and other parts by path. */
export function docxWith(body: string, parts: Readonly<Record<string, string>> = {}): Uint8Array {
  const root = (name: string, xml: string): string => `${XML}<w:${name} xmlns:w="${WORDS}">${xml}</w:${name}>`;
  const others = Object.entries(parts).map(([name, xml]) => [`word/${name}.xml`, root(name, xml)]);
  return zipOf({
    '[Content_Types].xml': `${XML}<Types xmlns="${TYPES}"><Override PartName="/word/document.xml" ContentType="${MAIN}"/></Types>`,
    '_rels/.rels': `${XML}<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${DOCUMENT}" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': root('document', `<w:body>${body}</w:body>`),
    ...Object.fromEntries(others),
  });
}

/** Returns a DOCX file of a few kB whose text unpacks to `size` bytes, and declares `declared` bytes. */
export function docxBomb(size: number, declared = size): Uint8Array {
  const xml = deflateRawSync(Buffer.alloc(size, '<w:p/>'), { level: 9 });
  const name = Buffer.from('word/document.xml');
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(8, 4);
  header.writeUInt32LE(xml.length, 14);
  header.writeUInt32LE(declared, 18);
  header.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), header, name, xml]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), header, Buffer.alloc(14), name]);
  return Buffer.concat([local, central, endOfZip(1, central.length, local.length)]);
}

/** A ZIP archive with uncompressed files. */
function zipOf(files: Readonly<Record<string, string>>): Uint8Array {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, data] = [Buffer.from(name), Buffer.from(text)];
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt32LE(crc32(data), 10);
    header.writeUInt32LE(data.length, 14);
    header.writeUInt32LE(data.length, 18);
    header.writeUInt16LE(path.length, 22);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), header, path, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), header, tail, path]));
    local.push(entry);
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([...local, directory, endOfZip(central.length, directory.length, offset)]);
}

function endOfZip(entries: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
