/** The part of pdfkit that we use. The package has no types. */
declare module 'pdfkit' {
  import type { Readable } from 'node:stream'

  type Text = { width?: number; lineBreak?: boolean; features?: string[] }
  type Options = {
    size: string
    margin: number
    bufferPages: boolean
    lang: string
    info: { Title: string; Producer: string; Creator: string }
  }

  export default class PDFDocument extends Readable {
    constructor(options: Options)
    /** The vertical position of the next text. */
    y: number
    registerFont(name: string, file: string): this
    font(name: string): this
    fontSize(size: number): this
    fillColor(colour: string): this
    text(text: string, x: number, y: number, options?: Text): this
    widthOfString(text: string, options?: Text): number
    save(): this
    restore(): this
    translate(x: number, y: number): this
    roundedRect(x: number, y: number, width: number, height: number, radius: number): this
    path(path: string): this
    moveTo(x: number, y: number): this
    lineTo(x: number, y: number): this
    lineWidth(width: number): this
    fill(colour: string): this
    stroke(colour: string): this
    addPage(): this
    bufferedPageRange(): { start: number; count: number }
    switchToPage(page: number): this
    end(): void
  }
}
