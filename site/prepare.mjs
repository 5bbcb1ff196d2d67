// Makes the pages of the site from those of the repository: each at its address there, links and pictures with them.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, normalize, posix, relative } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'

const root = process.env.RDMA4J_ROOT
const pages = join(process.env.RDMA4J_SITE, 'pages')
const LANGUAGES = { '.java': 'java', '.xml': 'xml', '.py': 'python', '.c': 'c', '.properties': 'ini', '.sh': 'sh', '.json': 'json' }
const MODULES = { 'rdma4j-api': 'io.rdma4j.api', 'rdma4j-softnic': 'io.rdma4j.softnic', 'rdma4j-sockets': 'io.rdma4j.sockets' }

const files = directory => readdirSync(join(root, directory), { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? files(posix.join(directory, entry.name)) : [posix.join(directory, entry.name)])

const documents = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md',
    'interop/README.md', ...files('docs').filter(file => file.endsWith('.md'))].filter(file => existsSync(join(root, file)))
const todo = [...documents]
const made = new Map()      // what was made of a file or folder: its page

/** Where the page of a file stands on the site. */
function place(file) {
    let path = file.replace(/^docs\//, '')
    if (file === 'README.md') return 'index.md'
    if (file === 'docs/README.md') return 'documents.md'
    if (!file.includes('/')) return `project/${file.toLowerCase()}`
    if (file === 'docs/README.zh.md') return 'zh/index.md'
    if (file.startsWith('docs/course/')) path = path.replace(/^course\/en\//, 'course/').replace(/^course\/zh\//, 'zh/course/')
    // The folder of both languages has the index of the first.
    if (file === 'docs/course/README.md' && existsSync(join(root, 'docs/course/en/README.md'))) return 'course/languages.md'
    return path.replace(/README\.md$/, 'index.md')
}

/** The page that shows a file which is no document, or what is in a folder. */
function shown(path) {
    if (made.has(path)) return made.get(path)
    const full = join(root, path)
    const page = `source/${path.replace(/\/$/, '')}.md`
    made.set(path, page)
    let text
    if (statSync(full).isDirectory()) {
        const entries = readdirSync(full, { withFileTypes: true }).filter(entry => entry.isFile()).map(entry => entry.name).sort()
        text = `# ${path}\n\n${entries.map(name => `- [${name}](${link(page, shownOrPage(posix.join(path, name)))})`).join('\n')}\n`
    } else {
        text = `# ${basename(path)}\n\n\`${path}\`\n\n\`\`\`\`\`${LANGUAGES[extname(path)] ?? ''}\n${readFileSync(full, 'utf8')}\n\`\`\`\`\`\n`
    }
    write(page, text)
    return page
}

function shownOrPage(path) {
    if (path.endsWith('.md')) {
        if (!documents.includes(path)) { documents.push(path); todo.push(path) }
        return place(path)
    }
    const index = posix.join(path, 'README.md')
    if (existsSync(join(root, index))) return shownOrPage(index)
    const source = /^([\w-]+)\/src\/main\/java\/(.*)\/(\w+)\.java$/.exec(path)
    if (source && MODULES[source[1]]) {
        const javadoc = `api/${MODULES[source[1]]}/${source[2]}/${source[3]}.html`
        if (existsSync(join(pages, 'public', javadoc))) return javadoc
    }
    return shown(path)
}

function link(from, to) {
    // The Javadoc is no page of the generator, so its links are from the root.
    if (to.startsWith('api/')) return `/${to}`
    const path = posix.relative(posix.dirname(from), to)
    return path.startsWith('.') ? path : `./${path}`
}

function write(page, text) {
    const file = join(pages, page)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
}

let pictures = 0
function picture(source, from) {
    const file = `pictures/${++pictures}.svg`
    let svg
    try {
        svg = renderMermaidSVG(source, { bg: '#ffffff', fg: '#213547', font: 'system-ui' })
            // A reader's browser asks nobody else for a font.
            .replace(/^ *@import .*\n/m, '')
    } catch (failure) {
        throw new Error(`${from}: a picture cannot be drawn: ${failure.message}\n${source}`)
    }
    mkdirSync(join(pages, 'public/pictures'), { recursive: true })
    writeFileSync(join(pages, 'public', file), svg)
    return `![picture](/${file})`
}

function convert(file) {
    const page = place(file)
    const text = readFileSync(join(root, file), 'utf8').replace(/^```mermaid\n([\s\S]*?)^```$/gm, (_, source) => picture(source, file))
        // The pages have no HTML on the site but this, which the generator has a form of its own for.
        .replace(/^<details><summary>(.*)<\/summary>$/gm, '::: details $1').replace(/^<\/details>$/gm, ':::')
    // Links only outside of code.
    const parts = text.split(/(^```[\s\S]*?^```$|`[^`\n]*`)/m)
    const changed = parts.map((part, index) => index % 2 ? part : part.replace(/<!--[\s\S]*?-->\n?/g, ''))
    let whole = ''
    for (const part of changed) whole += part
    const converted = whole.replace(/(^```[\s\S]*?^```$)|(!?)\]\(([^)\s]+)\)/gm, (all, fenced, _, target) => {
        if (fenced || target.includes('://') || target.startsWith('#') || target.startsWith('/pictures/')) return all
        const [path, anchor] = target.split('#')
        const repository = normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, '')
        if (!existsSync(join(root, repository))) throw new Error(`${file}: nothing is at ${target}`)
        if (/\.(svg|png)$/.test(path)) {
            const copy = join(pages, 'public/pictures', repository.replaceAll('/', '-'))
            mkdirSync(dirname(copy), { recursive: true })
            cpSync(join(root, repository), copy)
            return `](/pictures/${basename(copy)})`
        }
        return `](${link(page, shownOrPage(repository))}${anchor ? `#${anchor}` : ''})`
    })
    write(page, converted)
}

while (todo.length) convert(todo.shift())

// The side bar: each folder with its pages, by their headings.
const title = file => /^# +(.*)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1].replaceAll('`', '') ?? file
const address = file => '/' + place(file).replace(/index\.md$/, '').replace(/\.md$/, '')
const section = (text, filter, collapsed) => {
    const found = documents.filter(filter).sort()
    const index = found.find(file => file.endsWith('README.md'))
    return { text, collapsed, link: index && address(index),
        items: found.filter(file => file !== index).map(file => ({ text: title(file), link: address(file) })) }
}
const inside = folder => file => file.startsWith(`docs/${folder}/`) && !file.includes('/zh/') && !file.endsWith('.zh.md')
const sidebar = [
    section('Start', inside('start'), false), section('Course', file => inside('course')(file) && file !== 'docs/course/README.md'
        || file === 'docs/course/README.md' && !existsSync(join(root, 'docs/course/en')), false),
    section('How to', inside('howto'), true), section('Reference', inside('reference'), true),
    section('Evidence', inside('evidence'), true), section('Decisions', inside('adr'), true),
    section('Project', file => !file.includes('/') && file !== 'README.md' || /^(examples|interop)\//.test(file), true)
]
const sidebarZh = [section('教程', file => file.startsWith('docs/course/zh/'), false)]
writeFileSync(join(pages, 'sidebar.json'), JSON.stringify({ sidebar, sidebarZh }))
console.log(`${documents.length} documents, ${made.size} sources and folders, ${pictures} pictures`)
