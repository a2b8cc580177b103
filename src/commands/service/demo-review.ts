import type { Transaction } from '../../db/sql.ts'
import { storeDocument } from '../../domain/documents/documents.ts'
import { submitToStaff as submitSender } from '../../domain/senders/moderation.ts'
import { createSender } from '../../domain/senders/senders.ts'
import { submitToStaff as submitTemplate } from '../../domain/templates/moderation.ts'
import { createTemplate } from '../../domain/templates/templates.ts'

/**
 * Two requests for the review queue: a sender name with a document, and a template. They wait for staff also where
 * moderation is automatic, as it is in a demo.
 */
export async function requestReviews(
  sql: Transaction,
  { senderOf, templateOf }: { senderOf: number; templateOf: number },
  now: Date,
): Promise<void> {
  await requestSender(sql, senderOf, now)
  await requestTemplate(sql, templateOf, now)
}

/** The name looks like that of another company of the demo, so a moderator has something to decide. */
async function requestSender(sql: Transaction, companyId: number, now: Date) {
  const document = await storeDocument(sql, companyId, { filename: 'letter-of-authority.pdf', content: letter() })
  const sender = await createSender(sql, companyId, {
    senderName: 'ROMASHKI',
    channelType: 'SMS',
    brand: 'MTS',
    commonType: 'COMMON',
    countryCode: 'RU',
    validFrom: now,
    description: 'Отдел цветов «Ромашки» в нашей лавке: сообщаем покупателям, что букет готов.',
    documentIds: [document.id],
  })
  await submitSender(sql, sender, now)
}

async function requestTemplate(sql: Transaction, companyId: number, now: Date) {
  const given = {
    channelType: 'SMS',
    trafficType: 'SERVICE',
    pattern: '%w, ваш букет %d собран. Ждём вас в «Ромашке» до 21:00.',
    senderId: null,
    content: null,
    validFrom: now,
    validTo: null,
  } as const
  await submitTemplate(sql, await createTemplate(sql, companyId, given, now), now)
}

/** In Latin letters: every reader of PDF has a font for them, so the file needs none of its own. */
const letterLines = [
  'Lavka u mosta',
  'Naberezhnaya 5, Novosibirsk',
  '',
  'LETTER OF AUTHORITY',
  '',
  'We ask you to register the sender name ROMASHKI.',
  'It is the name of the flower department of our shop,',
  'and no other company has a right to it.',
  '',
  'Vera Mostova, director',
  '',
  'A sample of the demo: company and people are invented.',
]

const letter = () => onePage(letterLines.map(line => `(${line}) Tj T*`).join('\n'))

/** A PDF of one page in A5. */
function onePage(text: string): Buffer {
  const content = `BT /F1 14 Tf 22 TL 36 540 Td\n${text}\nET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let file = '%PDF-1.4\n'
  const places = objects.map((object, i) => {
    const place = file.length
    file += `${i + 1} 0 obj\n${object}\nendobj\n`
    return place
  })
  const table = places.map(place => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file + end, 'latin1')
}
