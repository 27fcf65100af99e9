"""Verbs and nouns of short statements by what they mean, in Spanish and English, and which of them take one value.

Words are folded as `domain.quantities.plain` does it. A concept is an English word that stands for the words of both
languages: `live` for `vive`, `reside`, `lives`. Lists name forms; other forms are found through their stems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from evoca.domain.languages import ENGLISH, SPANISH
from evoca.domain.text import stems


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_VERBS = """
be: es son soy eres somos era eran fue fueron sera seran ser ; is are am was were be been being
be: esta estan estoy estas estamos estaba estaban estuvo estar ;
have: tiene tienen tengo tenemos tienes tenia tenian tuvo tuvieron tener tenido posee ; has have had having own possess
live: vive viven vivo vivir resido reside residir ; live reside dwell
work: trabaja trabajo trabajar ; work
function: funciona ; function
study: estudia estudio estudiar ; study studies studying
name: llama llamo llaman llamar ; call called named
born: nacio naci nacer ; born
found: fundo fundaron fundada fundado ; founded
die: murio murieron fallecio ; die died
cost: cuesta cuestan costar costo costaba ; cost
pay: paga pago pagamos pagar ; pay paid
weigh: pesa peso pesan pesar ; weigh
measure: mide mido miden medir ; measure
last: dura duran durar ; last
take: tarda tardan lleva llevo llevan toma ; take took taken
start: empieza empiezan empezo comienza comienzan comenzo inicia arranca ; start begin began
end: termina terminan termino acaba acaban finaliza ; end finish
open: abre abren abrio abrir ; open
close: cierra cierran cerro cerrar ; close shut
leave: sale salen salgo salio parte salir ; leave left depart
arrive: llega llegan llego llegar ; arrive
prefer: prefiere prefiero prefieren preferir preferimos ; prefer
like: gusta gustan gustar encanta encantan adora adoro ama amo chifla disfruta ; like love enjoy adore
hate: odia odio odiar detesta detesto aborrece desagrada ; hate dislike detest loathe
drink: bebe bebo beben beber tomo ; drink drank
eat: come comen comer comemos ; eat ate
smoke: fuma fumo fuman fumar ; smoke
use: usa uso usan usar usamos utiliza utilizo utilizan utilizamos emplea empleamos ; use
need: necesita necesito necesitan necesitamos requiere requieren exige ; need require
support: soporta soportan admite admiten acepta aceptan aceptamos ; support accept
play: toca toco tocan tocar juega juego juegan jugar practica ; play practise practice
speak: habla hablo hablan hablar ; speak spoke
know: conoce conozco conocen sabe saben conocer saber ; know knew
read: lee leo leen leer ; read
write: escribe escribo escribio escribieron escribir escrito escrita escritos escritas ; write wrote written
run: corre corro corren correr corrio ejecuta ejecutan ; run ran
swim: nadar ; swim
cook: cocina cocino cocinan cocinar ; cook
teach: ensena ensenan ensenar ; teach taught
sell: vende vendo venden vendio vendemos vender ; sell sold
buy: compra compro compran comprar compre ; buy bought
visit: visita visito visitan visitar visite visitado ; visit
travel: viaja viajo viajan viajar ; travel
fly: vuela vuelo vuelan volar volo ; fly flew
drive: conduce conduzco conducen conducir ; drive drove
walk: camina camino pasea ; walk
wear: viste ; wear wore
store: guarda guardan guardamos almacena almacenan guardado almacenado ; store stored keep kept
deploy: despliega desplegamos despliegan desplegado ; deploy
host: aloja alojado alojada ; host hosted
locate: ubicado ubicada situado situada ubica encuentra ; located situated
contain: contiene contienen ; contain
hold: cabe caben ; hold held
include: incluye incluyen incluido incluida ; include
exclude: excluye excluyen excluido ; exclude
pass: aprueba aprobo aprobar aprueban pasan pasa ; pass succeed
fail: falla fallan fallo suspende suspendio fracasa ; fail
allow: permite permiten permitido ; allow permit
forbid: prohibe prohiben prohibido ; forbid prohibit ban forbids banned prohibits forbidden
reject: rechaza rechazan rechazo ; reject
return: devuelve ; return
rise: sube suben aumenta aumentan crece ; rise increase grow
fall: baja bajan disminuye disminuyen decrece ; fall decrease drop
win: gana ganan gano ; win won
lose: pierde pierden perdio ; lose lost
want: quiere quiero quieren queremos querer desea deseo ; want
come: viene vienen vengo venir ; come came
go: va van voy vamos ; go went
marry: casa caso casaron casarse casado casada ; marry married
move: mudo mude mudaron mudado mudada mudarse traslado trasladado muda ; move relocate
sleep: duerme duermo dormir ; sleep slept
attend: asiste asisten asistio ; attend
send: envia envian envio ; send sent
stop: deja dejo deje dejan dejaron dejar ; stop quit cease
offer: ofrece ofrecen ofrezco ofrecemos ; offer
handle: maneja manejan gestiona gestionan ; handle manage
print: imprime imprimen ; print
import: importa importan ; import
export: exporta exportan ; export
deliver: entrega entregan sirve sirven reparte ; deliver
help: ayuda ayudan ayudo ; help
ask: pregunta pregunto pide piden pido ; ask
answer: responde responden contesta contestan ; answer reply
try: intenta intentan prueba prueban ; try tries tried
follow: sigue siguen sigo ; follow
show: muestra muestran ensena ; show
turn: gira ; turn
rain: llueve ; rain
train: entrena entreno entrenan ; train
listen: escucha escucho escuchan ; listen
watch: ve veo ven mira miro miran ; watch
feel: siente siento sienten ; feel felt
collect: colecciona colecciono recoge recogen ; collect
produce: produce producen fabrica fabrican ; produce
generate: genera generan ; generate
cover: cubre cubren ; cover
control: controla controlan ; control
connect: conecta conectan ; connect
fit: encaja ; fit
save: ahorra ahorro guarda ; save
spend: gasta gasto gastan ; spend spent
clean: limpia limpio limpian ; clean
wash: lava lavo lavan ; wash
charge: cobra cobran carga cargan ; charge
serve: atiende atienden ; serve
share: comparte comparto comparten ; share
validate: valida validan comprueba comprueban ; validate check
encrypt: cifra cifran cifrado cifrada ; encrypt
sign: firma firmo firman ; sign
sing: canta canto cantan ; sing sang
dance: baila bailo bailan ; dance
paint: pinta pinto pintan ; paint
draw: dibuja dibujo dibujan ; draw drew
break: rompe rompen ; break broke
fix: arregla arreglan ; fix repair
remember: recuerda recuerdo recuerdan ; remember
forget: olvida olvido olvidan ; forget forgot
earn: cobra ; earn
rent: alquila alquilo alquilan ; rent
lead: dirige dirigen lidera ; lead led
report: informa informan ; report
compile: compila compilan ; compile
log: registra registran ; log
choose: elige elegimos eligio elegido escogido ; choose chose chosen
decide: decide decido decidimos decidio decidido ; decide decided
receive: recibe reciben recibo ; receive
give: da dan doy dar dio ; give gave bear bears
grow: cultiva cultivo ; grown
rehearse: ensaya ensayan ; rehearse
meet: reune reunen ; meet met
celebrate: celebra celebran ; celebrate
plan: planeado planeada previsto prevista programado programada ; planned scheduled
make: hace hacen hago hizo hecho hecha ; make made
belong: pertenece ; belong
depend: depende dependen ; depend
expire: caduca vence expira ; expire
park: aparca aparco ; park parked
sit: sienta ; sit sat
install: instala instalado instalada ; install installed
assign: asignado asignada ; assigned
base: ; based
build: construye construido ; built
keep: conserva ; retain
copy: copia copian ; copy copies copied
exist: hay habia hubo existe existen ; exist exists
skip: salta ; skip skips
practice: ; practises
invite: invita invito ; invite
publish: publica publican publico ; publish publishes released release
"""
"""concept: Spanish forms ; English forms"""

_NOUNS = """
meeting: reunion reuniones ; meeting
server: servidor servidores ; server
memory: memoria ram ; memory ram
disk: disco ; disk
door: puerta ; door
window: ventana ; window
colour: color colores ; colour color colors
favourite: favorito favorita preferido preferida predilecto ; favourite favorite
daughter: hija hijas ; daughter daughters
son: hijo hijos ; son sons
sister: hermana hermanas ; sister sisters
brother: hermano hermanos ; brother brothers
mother: madre mama ; mother mum mom
father: padre papa ; father dad
uncle: tio tios ; uncle uncles
aunt: tia tias ; aunt aunts
grandfather: abuelo ; grandfather
grandmother: abuela ; grandmother
nephew: sobrino ; nephew
niece: sobrina ; niece
cousin: primo prima primos primas ; cousin
husband: marido esposo ; husband
wife: esposa ; wife
boyfriend: novio ; boyfriend
girlfriend: novia ; girlfriend
boss: jefe jefa ; boss manager
friend: amigo amiga ; friend
house: casa ; house
flat: piso apartamento ; flat apartment
car: coche carro ; car
dog: perro perra ; dog
cat: gato gata ; cat
coffee: cafe ; coffee
tea: te ; tea
wine: vino ; wine
milk: leche ; milk
meat: carne ; meat
bread: pan ; bread
water: agua ; water
password: contrasena clave ; password
phone: telefono movil ; phone telephone
mail: correo email ; mail email
address: direccion ; address
birthday: cumpleanos ; birthday
wedding: boda ; wedding
party: fiesta ; party
exam: examen ; exam
flight: vuelo vuelos ; flight
train: tren ; train
language: idioma lengua lenguaje ; language
database: base ; database
project: proyecto ; project
deadline: plazo ; deadline
delivery: entrega ; delivery
budget: presupuesto ; budget
price: precio ; price
year: ano anos ; year
red: rojo roja ; red
blue: azul ; blue
green: verde ; green
black: negro negra ; black
white: blanco blanca ; white
child: nino nina ; child children kid
open: abierto abierta abiertos abiertas ; open
closed: cerrado cerrada cerrados cerradas ; closed shut
new: nuevo nueva ; new
old: viejo vieja ; old
public: publico publica ; public
private: privado privada ; private
enabled: activado activada activo activa ; enabled active
disabled: desactivado desactivada inactivo inactiva ; disabled inactive
single: soltero soltera ; single
married: casado casada ; married
true: verdadero verdadera ; true
false: falso falsa ; false
free: gratis gratuito gratuita ; free
hot: caliente ; hot
cold: frio fria ; cold
"""

CESSATIVES = _listed("dejo deje dejaron dejado dejar stopped quit stop stops")
MODALS = {
    word: modal
    for modal, words in {
        "can": "puede puedo pueden podemos can cannot",
        "must": "debe debo deben debemos must should ought",
        "future": "will shall won",
        "could": "podria podrian could may might would podemos",
    }.items()
    for word in words.split()
}
EXPERIENCED = _listed("gusta gustan encanta encantan chifla chiflan interesa interesan duele apetece molesta desagrada")
"""Verbs whose grammatical subject is the thing: `me gusta el café`."""
PASSIVES = _listed(
    """
    write found host locate store deploy base install plan assign name born park make include build marry celebrate
    publish
    """
)
OPPOSED = frozenset(
    frozenset(pair.split())
    for pair in (
        "like hate",
        "pass fail",
        "function fail",
        "allow forbid",
        "support reject",
        "support forbid",
        "include exclude",
        "rise fall",
        "win lose",
    )
)
CONSUMED = _listed("drink eat smoke use play watch take")
SINGLE = {
    "live": "in",
    "work": "in at for",
    "study": "in at",
    "name": "",
    "born": "in",
    "locate": "in",
    "host": "in with",
    "store": "in with",
    "deploy": "in with",
    "base": "in",
    "write": "in",
    "rehearse": "in at",
    "celebrate": "in at",
    "park": "in",
    "install": "in",
    "assign": "to",
    "marry": "with to",
    "prefer": "",
    "run": "in",
    "build": "in with",
    "belong": "to",
}
"""What takes one value: the verb, and the prepositions before the value."""
DATED = _listed(
    """
    be born die found start end open close leave arrive marry celebrate plan expire publish rehearse meet take exist
    build
    """
)
"""Verbs of things that are at one time."""
UNIQUE = _listed("born die marry found")
STATES = _listed("be live have prefer like hate know speak want need support use locate")
ATTRIBUTES = _listed(
    """
    colour favourite password name nombre apellido surname nickname apodo size talla tamano job trabajo profession
    profesion oficio occupation language status estado priority prioridad editor framework database branch rama system
    sistema timezone zona huso type tipo model modelo format formato region brand marca capital mail phone address
    team equipo theme tema location ubicacion role rol cargo level nivel currency moneda browser navegador version
    theme shell license licencia religion nationality nacionalidad grupo group seat asiento unit unidad limit limite
    puerto port provider proveedor plan method metodo position posicion title titulo
    """
)
"""Nouns of which a thing has one."""
INITIALS = _listed("ceo cto cfo coo api url uri ip id iban dni nif pin dns vpn os db sku")
"""Nouns that are written like names."""
SHARED = _listed(
    """
    friend brother sister cousin son daughter uncle aunt nephew niece neighbour neighbor vecino vecina colleague
    companero companera client cliente customer hobby aficion pasatiempo problem problema goal objetivo skill task tarea
    reason razon member miembro student alumno alumna ingredient feature example ejemplo author autor partner socio
    interest interes option opcion contributor child one uno supplier
    """
)
"""Nouns of which a thing may have many."""
TIMES = _listed(
    """
    morning afternoon evening night noon midnight weekend weekday summer winter spring autumn holiday season week month
    tarde noche manana mediodia finde fin verano invierno primavera otono vacaciones temporada semana mes dia day time
    vez veces domingo lunes today hoy ano year mornings evenings nights weekends summers winters tardes noches mananas
    veranos inviernos semanas meses dias days weeks months years anos birthday childhood infancia
    """
)
_CLASSES = """
red blue green black white rojo azul verde negro blanco yellow amarillo amarilla orange naranja purple morado violeta
pink rosa brown marron grey gray gris beige teal turquesa silver plateado gold dorado
| single married divorced widowed engaged soltero soltera casado casada divorciado divorciada viudo viuda separado
| vegetarian vegan carnivore vegetariano vegetariana vegano vegana omnivoro omnivora carnivoro
| nurse doctor lawyer teacher architect engineer plumber electrician baker accountant journalist chef cook pilot dentist
vet carpenter mechanic waiter actor actress farmer programmer developer designer economist pharmacist librarian
enfermero enfermera medico medica abogado abogada profesor profesora maestro maestra arquitecto arquitecta ingeniero
ingeniera fontanero fontanera electricista panadero panadera contable periodista cocinero cocinera piloto dentista
veterinario veterinaria carpintero carpintera mecanico mecanica camarero camarera actriz agricultor programador
programadora disenador disenadora economista farmaceutico farmaceutica bibliotecario
| small medium large big pequeno pequena mediano mediana grande
| high low alta baja media
| pending done finished cancelled approved rejected pendiente terminado terminada hecho cancelado cancelada aprobado
aprobada rechazado rechazada
| daily weekly monthly yearly diario diaria semanal mensual anual
| wooden metal plastic glass madera plastico cristal vidrio barro ceramica acero aluminio
| north south east west norte sur este oeste
| beginner intermediate expert principiante intermedio experto experta novato novata
| spring summer autumn winter primavera verano otono invierno
| online presencial person virtual
| left right izquierda derecha zurdo zurda diestro diestra handed
"""
_REGIONS = _listed(
    """
    africa america asia europe europa oceania latinoamerica spain espana portugal france francia italy italia germany
    alemania england inglaterra scotland escocia wales gales ireland irlanda britain bretana kingdom reino states
    estados usa uk eeuu canada mexico brazil brasil argentina chile peru colombia venezuela ecuador bolivia uruguay
    paraguay cuba japan japon china india russia rusia poland polonia norway noruega sweden suecia finland finlandia
    denmark dinamarca netherlands holanda belgium belgica austria switzerland suiza greece grecia turkey turquia egypt
    egipto morocco marruecos australia zealand zelanda korea corea vietnam thailand tailandia indonesia israel iceland
    galicia asturias cantabria euskadi vasco navarra aragon cataluna catalonia catalunya andalucia andalusia extremadura
    murcia canarias baleares rioja leon mancha california texas florida virginia ohio oregon washington utah nevada
    arizona colorado alaska hawaii bavaria baviera lombardy tuscany toscana provence normandy yorkshire cornwall kent
    hungary hungria romania rumania ukraine ucrania czech checa slovakia croatia croacia serbia nigeria kenya ghana
    """
)
_CITIES = _listed(
    """
    madrid barcelona valencia sevilla seville bilbao zaragoza malaga vigo coruna lugo orense ourense gijon oviedo
    santander burgos valladolid salamanca leon toledo granada cordoba cadiz huelva almeria alicante pamplona logrono
    vitoria soria teruel cuenca segovia avila zamora london londres paris berlin munich rome roma milan lisbon lisboa
    porto oporto dublin edinburgh glasgow leeds bristol manchester liverpool york oxford cambridge oslo stockholm
    copenhagen helsinki amsterdam brussels vienna viena prague praga budapest warsaw athens atenas geneva zurich
    boston chicago austin dallas denver seattle houston miami atlanta toronto montreal tokyo tokio osaka beijing
    shanghai delhi mumbai sydney melbourne lima bogota quito santiago caracas mexico montevideo buenos
    """
)

_LANGUAGES = _listed(
    """
    english spanish french german italian portuguese catalan galician basque latin greek russian chinese japanese arabic
    korean polish dutch swedish ingles espanol castellano frances aleman italiano portugues gallego euskera ruso chino
    japones arabe coreano polaco neerlandes sueco
    """
)
_STREETS = _listed("street road avenue lane square drive boulevard calle avenida plaza paseo carretera barrio camino")

_EXONYMS = {
    spanish: english
    for english, spanish in (
        pair.split()
        for pair in """
        london londres|rome roma|lisbon lisboa|vienna viena|prague praga|athens atenas|geneva ginebra
        brussels bruselas|warsaw varsovia|copenhagen copenhague|stockholm estocolmo|moscow moscu|beijing pekin
        tokyo tokio|seville sevilla|edinburgh edimburgo|cologne colonia|florence florencia|venice venecia
        naples napoles|bordeaux burdeos|marseille marsella|dresden dresde|frankfurt francfort|porto oporto
        new nueva|germany alemania|france francia|italy italia|spain espana|england inglaterra|scotland escocia
        wales gales|ireland irlanda|japan japon|russia rusia|poland polonia|norway noruega|sweden suecia
        finland finlandia|denmark dinamarca|netherlands holanda|belgium belgica|switzerland suiza|greece grecia
        turkey turquia|egypt egipto|morocco marruecos|brazil brasil|states estados|united unidos|usa eeuu
        kingdom reino|catalonia cataluna|andalusia andalucia|europe europa|hungary hungria|romania rumania
        ukraine ucrania|croatia croacia|english ingles|spanish espanol|french frances|german aleman
        italian italiano|portuguese portugues|galician gallego|basque euskera|chinese chino|japanese japones
        russian ruso|arabic arabe|dutch neerlandes
        """.replace("\n", "|").split("|")
        if pair.strip()
    )
}


def _table(lines: str) -> tuple[dict[str, str], dict[str, str]]:
    """(Spanish, English): form or stem → concept; an exact form has the first word, then the earlier line."""
    tables: tuple[dict[str, str], dict[str, str]] = ({}, {})
    by_stem: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for line in filter(None, lines.split("\n")):
        concept, _, forms = line.partition(":")
        for side, words in enumerate(forms.split(";")):
            listed = words.split()
            for word, stem in zip(listed, stems(listed, (SPANISH, ENGLISH)[side]), strict=True):
                tables[side].setdefault(word, concept)
                by_stem[side].setdefault(stem, concept)
    for side in (0, 1):
        for stem, concept in by_stem[side].items():
            tables[side].setdefault(f"~{stem}", concept)
    return tables


def _with_plurals(forms: str) -> str:
    return " ".join(word if word == ";" else f"{word} {word}s {word}es" for word in forms.split())


_LEAST_STEM = 4
"""Shorter stems of nouns belong to too many words: `rama` is not `ram`."""


@cache
def _verbs() -> Mapping[int, dict[str, str]]:
    spanish, english = _table(_VERBS)
    return {SPANISH: spanish, ENGLISH: english}


@cache
def _nouns() -> Mapping[int, dict[str, str]]:
    lines = [line.partition(":") for line in _NOUNS.split("\n") if line]
    spanish, english = _table("\n".join(f"{concept}: {_with_plurals(forms)}" for concept, _, forms in lines))
    return {SPANISH: spanish, ENGLISH: english}


def verb_concept(word: str, stem: str, language: int) -> str | None:
    """The concept of a verb's form; `stem` is its stem in `language`."""
    known = _verbs()[language]
    return known.get(word) or known.get(f"~{stem}")


def is_verb_form(word: str, language: int) -> bool:
    """Whether the very form is known, not only its stem."""
    return word in _verbs()[language]


def known_forms() -> list[tuple[Sequence[str], Sequence[str]]]:
    """The verbs and nouns of each concept, in Spanish and in English."""
    lines = (line.partition(":")[2].partition(";") for line in f"{_VERBS}{_NOUNS}".split("\n") if line)
    return [(spanish.split(), english.split()) for spanish, _, english in lines]


def exonyms() -> list[tuple[str, str]]:
    """Names of places and languages in Spanish and in English."""
    return list(_EXONYMS.items())


def name_key(word: str) -> str:
    """One spelling for a place or language that has another name in Spanish: `london` for `londres`."""
    return _EXONYMS.get(word, word)


def is_concept(key: str) -> bool:
    """Whether the key is a concept of both languages, not a stem of one."""
    return key in _shared_keys()


@cache
def _shared_keys() -> frozenset[str]:
    return frozenset(line.partition(":")[0] for line in _NOUNS.split("\n")) | frozenset(_EXONYMS.values())


def noun_concept(word: str, stem: str, language: int) -> str:
    """The concept of a noun or adjective, else its stem."""
    if word in _EXONYMS:
        return _EXONYMS[word]
    known = _nouns()[language]
    return known.get(word) or (known.get(f"~{stem}") if len(stem) >= _LEAST_STEM else None) or stem


@cache
def _class_of() -> dict[str, int]:
    return {word: at for at, words in enumerate(_CLASSES.split("|")) for word in words.split()}


def same_class(one: str, other: str) -> bool:
    """Whether two words are values of one attribute, of which a thing has one at a time: two colours, two trades."""
    left = _class_of().get(one)
    return left is not None and left == _class_of().get(other)


def sort_of(word: str) -> str:
    """`region`, `city`, `street` or `language` for a word that is known as one, else ""."""
    if word in _REGIONS:
        return "region"
    if word in _CITIES:
        return "city"
    return "language" if word in _LANGUAGES else "street" if word in _STREETS else ""


def known_words(words: Sequence[str], found: Sequence[str], language: int) -> int:
    """How much speaks for the language: 2 for each of its known verbs and nouns, 1 for another form of one."""
    verbs, nouns = _verbs()[language], _nouns()[language]
    return sum(
        2 if word in verbs or word in nouns else f"~{stem}" in verbs for word, stem in zip(words, found, strict=True)
    )
