"""Made-up tables in the layout of the real files: their columns, dtypes and categories, no value.

So that what is prepared from them has the columns, names, classes and gaps that the real data
gives, and tests of these need no data. `test_made_up.py` holds the layout against the real files.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from lifenet.datasets import registry


@cache
def real_folder():
    """The folder of the real files, or None; looked for once, before any test changes where."""
    try:
        return registry.data_folder()
    except FileNotFoundError:
        return None


NEEDS_DATA = pytest.mark.skipif(
    real_folder() is None,
    reason="needs the real data: set LIFENET_DATA or put shared/data beside the checkout",
)
_MARKS = (NEEDS_DATA, pytest.mark.real_data)
REAL = pytest.param("real", marks=_MARKS)


def real_ones(names):
    """("real", name) of each, where the data is at hand; else one for all, which is skipped."""
    names = list(names) if real_folder() is not None else ["all"]
    return [pytest.param(("real", name), marks=_MARKS, id=f"real-{name}") for name in names]


def both(names):
    """("made-up", name) of each, and `real_ones`."""
    names = list(names)
    invented = [pytest.param(("made-up", name), id=f"made-up-{name}") for name in names]
    return [*invented, *real_ones(names)]


FLOAT, INT = "float64", "int64"
YES = ("no", "yes")
STATES = (
    "AK AL AR AZ CA CO CT DC DE FL GA HI ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ "
    "NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY"
)


def of(dtype, *names):
    return dict.fromkeys(names, dtype)


def words(text):
    return tuple(text.split())


def codes(letter, last, first=1):
    return tuple(f"{letter}{number}" for number in range(first, last + 1))


_PIXELS = {
    "label": tuple(np.arange(10, dtype="uint8")),
    **of("uint8", *(f"pixel{j}" for j in range(784))),
}
_JET = "pt eta phi b-tag"
_VERIFIED = ("Not Verified", "Source Verified", "Verified")

#: For each file its columns in order: a dtype, or the values (in their shares) that it may have.
LAYOUTS = {
    "abalone": {
        "Sex": tuple("FIM"),
        **of(FLOAT, "Length", "Diameter", "Height", "Whole weight", "Shucked weight"),
        **of(FLOAT, "Viscera weight", "Shell weight"),
        "Rings": INT,
    },
    "airfoil": {
        "frequency": INT,
        **of(FLOAT, "attack-angle", "chord-length", "free-stream-velocity"),
        **of(FLOAT, "suction-side-displacement-thickness", "scaled-sound-pressure"),
    },
    "aquatic_toxicity": {
        **of(FLOAT, "TPSA(Tot)", "SAacc"),
        **of(INT, "H-050"),
        **of(FLOAT, "MLOGP", "RDCHI", "GATS1p"),
        **of(INT, "nN", "C-040"),
        **of(FLOAT, "LC50"),
    },
    "bank_marketing": {
        "age": INT,
        "job": words(
            "admin. blue-collar entrepreneur housemaid management retired self-employed services "
            "student technician unemployed unknown"
        ),
        "marital": words("divorced married single"),
        "education": words("primary secondary tertiary unknown"),
        "default": YES,
        "balance": INT,
        "housing": YES,
        "loan": YES,
        "contact": words("cellular telephone unknown"),
        "day": INT,
        "month": words("apr aug dec feb jan jul jun mar may nov oct sep"),
        **of(INT, "duration", "campaign", "pdays", "previous"),
        "poutcome": words("failure other success unknown"),
        "y": YES,
    },
    "bike_sharing_hour": {
        "instant": INT,
        "dteday": ("2011-01-01", "2011-01-02"),
        "season": (1, 2, 3, 4),
        "yr": (0, 1),
        "mnth": tuple(range(1, 13)),
        "hr": tuple(range(24)),
        "holiday": (0, 1),
        "weekday": tuple(range(7)),
        "workingday": (0, 1),
        "weathersit": (1, 2, 3, 4),
        "temp": tuple(j / 50 for j in range(1, 51)),
        "atemp": tuple(round(j / 66, 4) for j in range(67)),
        "hum": tuple(j / 100 for j in range(101)),
        "windspeed": tuple(round(j / 67, 4) for j in range(58)),
        **of(INT, "casual", "registered", "cnt"),
    },
    "breast_cancer_wisconsin": {
        **of(INT, "id", "Clump_thickness", "Uniformity_of_cell_size", "Uniformity_of_cell_shape"),
        **of(INT, "Marginal_adhesion", "Single_epithelial_cell_size"),
        "Bare_nuclei": FLOAT,
        **of(INT, "Bland_chromatin", "Normal_nucleoli", "Mitoses"),
        "Class": (2, 4),
    },
    "california_housing": of(
        *(FLOAT, "longitude", "latitude", "housing_median_age", "total_rooms", "total_bedrooms"),
        *("population", "households", "median_income", "median_house_value"),
    ),
    "casp": {
        **of(FLOAT, "RMSD", *codes("F", 7)),
        "F8": INT,
        "F9": FLOAT,
    },
    "electrical_grid": {
        **of(FLOAT, *codes("tau", 4), *codes("p", 4), *codes("g", 4), "stab"),
        "stabf": ("stable", "unstable"),
    },
    "german_credit": {
        "checking_status": codes("A1", 4),
        "duration": INT,
        "credit_history": codes("A3", 4, first=0),
        "purpose": words("A40 A41 A410 A42 A43 A44 A45 A46 A48 A49"),
        "credit_amount": INT,
        "savings_status": codes("A6", 5),
        "employment": codes("A7", 5),
        "installment_commitment": INT,
        "personal_status": codes("A9", 4),
        "other_parties": codes("A10", 3),
        "residence_since": INT,
        "property_magnitude": codes("A12", 4),
        "age": INT,
        "other_payment_plans": codes("A14", 3),
        "housing": codes("A15", 3),
        "existing_credits": INT,
        "job": codes("A17", 4),
        "num_dependents": INT,
        "own_telephone": codes("A19", 2),
        "foreign_worker": codes("A20", 2),
        "class": (1,) * 7 + (2,) * 3,
    },
    "give_me_some_credit": {
        "SeriousDlqin2yrs": (0, 1),
        "RevolvingUtilizationOfUnsecuredLines": FLOAT,
        **of(INT, "age", "NumberOfTime30-59DaysPastDueNotWorse"),
        **of(FLOAT, "DebtRatio", "MonthlyIncome"),
        **of(INT, "NumberOfOpenCreditLinesAndLoans", "NumberOfTimes90DaysLate"),
        **of(INT, "NumberRealEstateLoansOrLines", "NumberOfTime60-89DaysPastDueNotWorse"),
        "NumberOfDependents": FLOAT,
    },
    "heloc": {
        "RiskPerformance": ("Bad", "Good"),
        **of(INT, "ExternalRiskEstimate", "MSinceOldestTradeOpen", "MSinceMostRecentTradeOpen"),
        **of(INT, "AverageMInFile", "NumSatisfactoryTrades", "NumTrades60Ever2DerogPubRec"),
        **of(INT, "NumTrades90Ever2DerogPubRec", "PercentTradesNeverDelq", "MSinceMostRecentDelq"),
        **of(INT, "MaxDelq2PublicRecLast12M", "MaxDelqEver", "NumTotalTrades"),
        **of(INT, "NumTradesOpeninLast12M", "PercentInstallTrades", "MSinceMostRecentInqexcl7days"),
        **of(INT, "NumInqLast6M", "NumInqLast6Mexcl7days", "NetFractionRevolvingBurden"),
        **of(INT, "NetFractionInstallBurden", "NumRevolvingTradesWBalance"),
        **of(INT, "NumInstallTradesWBalance", "NumBank2NatlTradesWHighUtilization"),
        **of(INT, "PercentTradesWBalance"),
    },
    "higgs_atlas_10k": {
        "EventId": INT,
        **of(FLOAT, "DER_mass_MMC", "DER_mass_transverse_met_lep", "DER_mass_vis", "DER_pt_h"),
        **of(FLOAT, "DER_deltaeta_jet_jet", "DER_mass_jet_jet", "DER_prodeta_jet_jet"),
        **of(FLOAT, "DER_deltar_tau_lep", "DER_pt_tot", "DER_sum_pt", "DER_pt_ratio_lep_tau"),
        **of(FLOAT, "DER_met_phi_centrality", "DER_lep_eta_centrality", "PRI_tau_pt"),
        **of(FLOAT, "PRI_tau_eta", "PRI_tau_phi", "PRI_lep_pt", "PRI_lep_eta", "PRI_lep_phi"),
        **of(FLOAT, "PRI_met", "PRI_met_phi", "PRI_met_sumet"),
        "PRI_jet_num": INT,
        **of(FLOAT, "PRI_jet_leading_pt", "PRI_jet_leading_eta", "PRI_jet_leading_phi"),
        **of(FLOAT, "PRI_jet_subleading_pt", "PRI_jet_subleading_eta", "PRI_jet_subleading_phi"),
        **of(FLOAT, "PRI_jet_all_pt", "Weight"),
        "Label": ("b", "s"),
        "KaggleSet": ("t",),
        "KaggleWeight": FLOAT,
    },
    "higgs_uci_35k": {
        **of("float32", "lepton_pT", "lepton_eta", "lepton_phi", "missing_energy_magnitude"),
        **of("float32", "missing_energy_phi"),
        **of(
            "float32",
            *(f"jet{j}{what}" for j in (1, 2, 3, 4) for what in words("pt eta phi b-tag")),
        ),
        **of("float32", "m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb"),
        "class": tuple(np.int8([0, 1])),
    },
    "hmeq": {
        "BAD": (0, 1),
        "LOAN": INT,
        **of(FLOAT, "MORTDUE", "VALUE"),
        "REASON": ("DebtCon", "HomeImp"),
        "JOB": words("Mgr Office Other ProfExe Sales Self"),
        **of(FLOAT, "YOJ", "DEROG", "DELINQ", "CLAGE", "NINQ", "CLNO", "DEBTINC"),
    },
    "lending_club_10k": {
        "emp_title": ("nurse", "teacher"),
        "emp_length": FLOAT,
        "state": words(STATES),
        "homeownership": words("MORTGAGE OWN RENT"),
        "annual_income": FLOAT,
        "verified_income": _VERIFIED,
        **of(FLOAT, "debt_to_income", "annual_income_joint"),
        "verification_income_joint": _VERIFIED,
        "debt_to_income_joint": FLOAT,
        "delinq_2y": INT,
        "months_since_last_delinq": FLOAT,
        **of(INT, "earliest_credit_line", "inquiries_last_12m", "total_credit_lines"),
        **of(INT, "open_credit_lines", "total_credit_limit", "total_credit_utilized"),
        **of(INT, "num_collections_last_12m", "num_historical_failed_to_pay"),
        "months_since_90d_late": FLOAT,
        **of(INT, "current_accounts_delinq", "total_collection_amount_ever"),
        **of(INT, "current_installment_accounts", "accounts_opened_24m"),
        "months_since_last_credit_inquiry": FLOAT,
        "num_satisfactory_accounts": INT,
        "num_accounts_120d_past_due": FLOAT,
        **of(INT, "num_accounts_30d_past_due", "num_active_debit_accounts", "total_debit_limit"),
        **of(INT, "num_total_cc_accounts", "num_open_cc_accounts", "num_cc_carrying_balance"),
        "num_mort_accounts": INT,
        "account_never_delinq_percent": FLOAT,
        **of(INT, "tax_liens", "public_record_bankrupt"),
        "loan_purpose": words(
            "car credit_card debt_consolidation home_improvement house major_purchase medical "
            "moving other renewable_energy small_business vacation"
        ),
        "application_type": ("individual", "joint"),
        **of(INT, "loan_amount", "term"),
        **of(FLOAT, "interest_rate", "installment"),
        "grade": tuple("ABCDEFG"),
        "sub_grade": codes("A", 5),
        "issue_month": ("Feb-2018", "Jan-2018", "Mar-2018"),
        "loan_status": ("Current", "Fully Paid"),
        "initial_listing_status": ("fractional", "whole"),
        "disbursement_method": ("Cash", "DirectPay"),
        **of(FLOAT, "balance", "paid_total", "paid_principal", "paid_interest", "paid_late_fees"),
    },
    "magic": {
        **of(FLOAT, "fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long"),
        **of(FLOAT, "fM3Trans", "fAlpha", "fDist"),
        "class": ("g", "h"),
    },
    "mnist_train": _PIXELS,
    "mnist_test": _PIXELS,
    "mushroom": {
        "class": tuple("ep"),
        "cap-shape": tuple("bcfksx"),
        "cap-surface": tuple("fgsy"),
        "cap-color": tuple("bcegnpruwy"),
        "bruises": tuple("ft"),
        "odor": tuple("acflmnpsy"),
        "gill-attachment": tuple("af"),
        "gill-spacing": tuple("cw"),
        "gill-size": tuple("bn"),
        "gill-color": tuple("beghknopruwy"),
        "stalk-shape": tuple("et"),
        "stalk-root": tuple("?bcer"),
        "stalk-surface-above-ring": tuple("fksy"),
        "stalk-surface-below-ring": tuple("fksy"),
        "stalk-color-above-ring": tuple("bcegnopwy"),
        "stalk-color-below-ring": tuple("bcegnopwy"),
        "veil-type": ("p",),
        "veil-color": tuple("nowy"),
        "ring-number": tuple("not"),
        "ring-type": tuple("eflnp"),
        "spore-print-color": tuple("bhknoruwy"),
        "population": tuple("acnsvy"),
        "habitat": tuple("dglmpuw"),
    },
    "ringnorm": {**of(FLOAT, *codes("V", 20)), "Class": tuple(np.int8([0, 1]))},
    "ringnorm_keel": {**of("int32", *codes("A", 20)), "target": tuple(np.int32([0, 1]))},
    "taiwan_credit": {
        **of(
            INT, "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", "PAY_0", *codes("PAY_", 6, 2)
        ),
        **of(INT, *codes("BILL_AMT", 6), *codes("PAY_AMT", 6)),
        "default_payment_next_month": (0, 1),
    },
}

#: Columns that have gaps.
GAPS = {
    "breast_cancer_wisconsin": ("Bare_nuclei",),
    "give_me_some_credit": ("MonthlyIncome", "NumberOfDependents"),
    "hmeq": words("MORTDUE VALUE REASON JOB YOJ DEROG DELINQ CLAGE NINQ CLNO DEBTINC"),
    "lending_club_10k": (
        *("emp_title", "emp_length", "debt_to_income", "annual_income_joint"),
        *("verification_income_joint", "debt_to_income_joint", "months_since_last_delinq"),
        *("months_since_90d_late", "months_since_last_credit_inquiry"),
        "num_accounts_120d_past_due",
    ),
}
#: Rows with gaps there, and applicants without a record in heloc: all their predictors are -9.
EMPTY = [5, 11, 41]
N_ROWS, LARGER = 60, {"bike_sharing_hour": 2000, "airfoil": 400, "german_credit": 400}


def table(file):
    """The made-up table of a file."""
    generator = np.random.default_rng(sorted(LAYOUTS).index(file))
    n_rows = LARGER.get(file, N_ROWS)
    made = pd.DataFrame(
        {name: _column(kind, n_rows, generator) for name, kind in LAYOUTS[file].items()}
    )
    if file == "bike_sharing_hour":
        made["cnt"] = _rentals(made, generator)
    if file == "airfoil":
        made["scaled-sound-pressure"] = 120 + 3 * made["attack-angle"] - made["frequency"] / 50
    for name in GAPS.get(file, ()):
        made.loc[EMPTY, name] = None
    if file == "heloc":
        made.loc[EMPTY, made.columns != "RiskPerformance"] = -9
    return made


def _column(kind, n_rows, generator):
    if isinstance(kind, tuple):  # every value in its share, so that none is missing
        return [kind[k % len(kind)] for k in generator.permutation(n_rows)]
    if np.dtype(kind).kind == "f":
        return generator.normal(size=n_rows).round(3).astype(kind)
    return generator.integers(0, 200, n_rows).astype(kind)


def _rentals(made, generator):
    """By the hour: two peaks on working days, a flat one on others; more when it is warm."""
    hour = made["hr"]
    peaks = np.exp(-(((hour - 8) / 2) ** 2)) + np.exp(-(((hour - 17.5) / 2) ** 2))
    flat = np.exp(-(((hour - 14) / 5) ** 2))
    rentals = 400 * np.where(made["workingday"] == 1, peaks, flat) * (0.7 + 0.6 * made["temp"])
    return (20 + rentals + generator.uniform(0, 20, len(made))).round().astype(INT)


def write(folder):
    """All files, as parquet."""
    for file in LAYOUTS:
        table(file).to_parquet(folder / f"{file}.parquet")
    return folder
